/** ListMessageMoveTasks: the newest first; a handle only of a task that can be cancelled. */
import type {
  ListMessageMoveTasksRequest,
  ListMessageMoveTasksResult,
  ListMessageMoveTasksResultEntry,
} from '@aws-sdk/client-sqs';
import type { MoveTask } from '../../../core/move-task.ts';
import { queueArn } from '../../../core/queue-arn.ts';
import { invalidParameter } from '../errors.ts';
import { queueOfArn, resourceMissing, taskHandleOf } from '../move-tasks.ts';
import type { Answer } from '../shape.ts';
import { action } from './action.ts';

const RESULTS_MAX = 10;

function entryOf(task: MoveTask, sourceArn: string): Answer<ListMessageMoveTasksResultEntry> {
  const { id, status, destinationArn, messagesPerSecond, failureReason } = task;
  return {
    ...(status === 'running' && { TaskHandle: taskHandleOf(id, sourceArn) }),
    Status: status.toUpperCase(),
    SourceArn: sourceArn,
    ...(destinationArn !== undefined && { DestinationArn: destinationArn }),
    ...(messagesPerSecond !== undefined && { MaxNumberOfMessagesPerSecond: messagesPerSecond }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    // A running task may know already that it will fail, when what is on its way has arrived.
    ...(status === 'failed' && failureReason !== undefined && { FailureReason: failureReason }),
    StartedTimestamp: task.startedAtMillis,
  };
}

export const listMessageMoveTasks = action<ListMessageMoveTasksRequest, ListMessageMoveTasksResult>({
  shape: { members: { SourceArn: 'string', MaxResults: 'integer' } },

  async run(request, call) {
    const name = queueOfArn('SourceArn', request.SourceArn, call);
    if (typeof name !== 'string') return name;
    const { MaxResults: max = 1 } = request;
    if (max < 1 || max > RESULTS_MAX) {
      return invalidParameter(
        "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and 10.",
      );
    }
    const outcome = await call.service.moveTasks(name);
    if (outcome.kind === 'queue-missing') return resourceMissing('SourceArn');
    const sourceArn = queueArn({ accountId: call.accountId, region: call.region, name });
    const results = outcome.tasks.slice(0, max).map((task) => entryOf(task, sourceArn));
    return { kind: 'done', output: results.length === 0 ? {} : { Results: results } };
  },
});
