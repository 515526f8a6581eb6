/** Move tasks in a manifest: few and rarely, so by the generated code. */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  bytesFromHex,
  bytesFromUuid,
  messageIdBytes,
  uuidFromBytes,
  type WriterId,
  writerIdBytes,
} from '../core/ids.ts';
import type { MoveTask, MoveTaskStatus } from '../core/move-task.ts';
import { MoveTaskSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { hexOfBytes, parsed, safeInteger } from './generated-values.ts';
import { withUnknown, withUnknownFields } from './unknown-fields.ts';
import { Malformed } from './wire.ts';
import type { WireWriter } from './wire-writer.ts';

const statusNumbers: Readonly<Record<MoveTaskStatus, number>> = {
  running: 1,
  cancelling: 2,
  completed: 3,
  cancelled: 4,
  failed: 5,
};
const statuses = new Map(
  Object.entries(statusNumbers).map(([status, number]) => [number, status as MoveTaskStatus]),
);

export function encodeMoveTasks(writer: WireWriter, tasksField: number, tasks: readonly MoveTask[]): void {
  for (const task of tasks) writer.bytesEvenIfEmpty(tasksField, toBinary(MoveTaskSchema, storedTask(task)));
}

function storedTask(task: MoveTask) {
  const stored = create(MoveTaskSchema, {
    id: bytesFromUuid(task.id),
    status: statusNumbers[task.status],
    messagesPerSecond: task.messagesPerSecond ?? 0,
    startedAtMillis: BigInt(task.startedAtMillis),
    moved: BigInt(task.moved),
    toMove: BigInt(task.toMove),
    through: BigInt(task.through),
    pacedUntilMillis: BigInt(task.pacedUntilMillis),
    runner: bytesFromHex(task.runner, writerIdBytes),
    ...(task.destinationArn !== undefined && { destinationArn: task.destinationArn }),
    ...(task.failureReason !== undefined && { failureReason: task.failureReason }),
  });
  return withUnknown(stored, task);
}

/** @throws Malformed */
export function decodeMoveTask(bytes: Uint8Array): MoveTask {
  const stored = parsed(MoveTaskSchema, bytes);
  const { destinationArn, messagesPerSecond, failureReason } = stored;
  const status = statuses.get(stored.status);
  if (status === undefined) throw new Malformed(`a move task has status ${stored.status}`);
  if (stored.id.length !== messageIdBytes) throw new Malformed('the id of a move task has the wrong length');
  const task: MoveTask = {
    id: uuidFromBytes(stored.id),
    status,
    startedAtMillis: safeInteger(stored.startedAtMillis),
    moved: safeInteger(stored.moved),
    toMove: safeInteger(stored.toMove),
    through: safeInteger(stored.through),
    pacedUntilMillis: safeInteger(stored.pacedUntilMillis),
    runner: hexOfBytes(stored.runner, writerIdBytes) as WriterId,
    ...(destinationArn !== undefined && { destinationArn }),
    ...(messagesPerSecond > 0 && { messagesPerSecond }),
    ...(failureReason !== undefined && { failureReason }),
  };
  return withUnknownFields(task, stored.$unknown);
}
