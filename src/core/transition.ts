/**
 * The one switch: `apply(state, commands, …)` gives the next state and an outcome per command, or says what has to
 * be loaded or uploaded first. Pure and synchronous: the same arguments give the same answer, and nothing outside is
 * touched. Order within one transition: delete queue, attributes and tags, purge, deletes, visibility changes and releases,
 * sends, moves and their resolution, links forgotten, move tasks started, receives, steps of move tasks, segments replaced; so a message can be stored and leased in one commit.
 */
import { changeVisibility, release } from './change-visibility.ts';
import type { Command, CommandOutcome, CommandResult } from './command.ts';
import { foldDeduplication, forgetOver, TakenIds } from './deduplication.ts';
import { foldDelayed, moveDues } from './delayed-pages.ts';
import { deleteMessages } from './delete.ts';
import { Draft, type TransitionTime } from './draft.ts';
import { FifoReceiver } from './fifo-receive.ts';
import type { Incarnation, WriterId } from './ids.ts';
import { foldLeases } from './lease-pages.ts';
import type { QueueLimits } from './limits.ts';
import { MoveStepper } from './move-step.ts';
import { cancelMoveTask, startMoveTask } from './move-task.ts';
import { PageReader, PageWriter } from './pages.ts';
import { addPermission, removePermission } from './permissions.ts';
import { purge } from './purge.ts';
import { mergeAttributes, resolveAttributes } from './queue-attributes.ts';
import type { ManifestContent, QueueState, WriterEntry } from './queue-state.ts';
import { changeTags } from './queue-tags.ts';
import { foldReady } from './ready-pages.ts';
import { Receiver } from './receive.ts';
import { appendMoved, forgetLinks, resolveMoves, returnMoves } from './redrive.ts';
import { replaceSegments } from './replace-segments.ts';
import type { Needs, Resources } from './resources.ts';
import { expire } from './retention.ts';
import { foldSegments } from './segments-pages.ts';
import { send } from './send.ts';
import { spill } from './spill.ts';
import { millisPerSecond } from './time.ts';

export interface TransitionInput {
  readonly state: QueueState;
  readonly commands: readonly Command[];
  readonly time: TransitionTime;
  /** 8 random bytes, drawn anew for every attempt. */
  readonly tokenSeed: Uint8Array;
  readonly writer: { readonly id: WriterId; readonly attempt: number; readonly roundMillis?: number };
  readonly resources: Resources;
  /** Raises `collectedBelow` to this version along the way, if lower now; at most the present version. */
  readonly collectBelow: number;
  /** Makes a next version even when no command changes anything: an older attempt can't land after that. */
  readonly supersedes?: boolean;
  /** The product's when absent. */
  readonly limits?: QueueLimits;
}

export type TransitionResult =
  | {
      readonly kind: 'applied';
      readonly next: ManifestContent;
      /** One for each command, in order. */
      readonly results: readonly CommandResult[];
      /** Whether there is anything to swap. */
      readonly changed: boolean;
    }
  | { readonly kind: 'needs'; readonly needs: Needs };

/** Commands by their place in the order; those of one place run in the order they came. */
const order: Readonly<Record<Command['kind'], number>> = {
  'delete-queue': 0,
  'set-attributes': 1,
  'change-tags': 1,
  'add-permission': 1,
  'remove-permission': 1,
  purge: 2,
  tidy: 2,
  delete: 3,
  'change-visibility': 4,
  release: 4,
  send: 5,
  'cancel-move-task': 6,
  'append-moved': 6,
  'resolve-moves': 6,
  'return-moves': 6,
  // Never before an append of the same transition: it would find its number unused again.
  'forget-links': 7,
  // After all that arrives: those messages are the task's.
  'start-move-task': 7,
  receive: 8,
  // Consumers first.
  'step-move-task': 9,
  // Everything before finds bodies where the base state has them, and the counts are final.
  'replace-segments': 10,
};

export function apply(input: TransitionInput): TransitionResult {
  const { state, commands } = input;
  if (commands.some((command) => command.kind === 'delete-queue')) return bury(input);
  const pages = new PageReader(input.resources.page);
  const draft = new Draft(state, input.time, input.tokenSeed, input.limits, pages);
  const collectedBelow = raisedCollectedBelow(input);
  const expired = expire(draft, pages);
  forgetOver(draft);
  const reads: Reads = { resources: input.resources, pages, taken: new TakenIds(draft, pages) };
  const neededSources = new Map<Incarnation, string>();
  const results = new Array<CommandResult>(commands.length);
  const sequence = commands.map((_, index) => index);
  sequence.sort((a, b) => order[commands[a]!.kind] - order[commands[b]!.kind] || a - b);
  let walk: Receiver | FifoReceiver | undefined;
  let steps: MoveStepper | undefined;
  for (const index of sequence) {
    const command = commands[index]!;
    if (command.kind === 'receive') {
      walk ??= receiverOf(draft, input, pages);
      results[index] = walk.receive(command);
    } else if (command.kind === 'step-move-task') {
      walk?.finish();
      steps ??= new MoveStepper(draft, input.resources, pages, input.writer.id);
      results[index] = steps.step(command);
    } else if (command.kind === 'tidy') {
      const effect = expired || collectedBelow > state.collectedBelow;
      results[index] = { outcome: { kind: 'done' }, effect };
    } else if (command.kind === 'replace-segments') {
      results[index] = replaceSegments(draft, command, collectedBelow);
    } else {
      results[index] = applyOne(draft, command, reads, neededSources, input.writer.id);
    }
  }
  walk?.finish();
  const needs = {
    segments: new Set([...(walk?.neededSegments ?? []), ...(steps?.neededSegments ?? [])]),
    groups: new Set([...(walk?.neededGroups ?? []), ...(steps?.neededGroups ?? [])]),
    pages: pages.needed,
    targets: new Set([...(walk?.neededTargets ?? []), ...(steps?.neededTargets ?? [])]),
    sources: neededSources,
  };
  const { segments, groups, targets, sources } = needs;
  if (segments.size + groups.size + needs.pages.size + targets.size + sources.size > 0)
    return { kind: 'needs', needs: { ...needs, spills: [], newPages: [] } };
  const changed = input.supersedes === true || results.some((result) => result.effect);
  if (!changed) return { kind: 'applied', next: { kind: 'queue', state }, results, changed };
  const spills = spill(draft, input.resources.prepared, collectedBelow);
  const written = new PageWriter(input.resources.preparedPages, collectedBelow);
  foldDelayed(draft, written);
  foldLeases(draft, written);
  foldReady(draft, written, walk instanceof FifoReceiver ? walk.takenFromReady : []);
  foldSegments(draft, written);
  foldDeduplication(draft, written);
  if (spills.length + written.wanted.length > 0)
    return { kind: 'needs', needs: { ...needs, spills, newPages: written.wanted } };
  const next = draft.seal({ ...entered(state, input.writer, draft.limits.writersMax), collectedBelow });
  return { kind: 'applied', next: { kind: 'queue', state: next }, results, changed };
}

/** By the type of the queue. */
function receiverOf(draft: Draft, { resources, commands }: TransitionInput, pages: PageReader) {
  const Kind = draft.resolved.fifo ? FifoReceiver : Receiver;
  return new Kind(draft, resources, pages, messagesAskedFor(commands));
}

function messagesAskedFor(commands: readonly Command[]): number {
  return commands.reduce((sum, command) => sum + (command.kind === 'receive' ? command.maxMessages : 0), 0);
}

function raisedCollectedBelow({ state, commands, collectBelow }: TransitionInput): number {
  const wanted = commands.reduce(
    (most, command) => (command.kind === 'tidy' ? Math.max(most, command.collectBelow) : most),
    collectBelow,
  );
  return Math.max(state.collectedBelow, Math.min(wanted, state.version));
}

/** What the commands of one transition look into. */
interface Reads {
  readonly resources: Resources;
  readonly pages: PageReader;
  readonly taken: TakenIds;
}

function applyOne(
  draft: Draft,
  command: Exclude<Command, { readonly kind: 'receive' | 'step-move-task' | 'tidy' | 'replace-segments' }>,
  { resources, pages, taken }: Reads,
  neededSources: Map<Incarnation, string>,
  writer: WriterId,
): CommandResult {
  switch (command.kind) {
    case 'set-attributes':
      return setAttributes(draft, mergeAttributes(draft.attributes, command.changes), pages);
    case 'change-tags':
      return changeTags(draft, command);
    case 'add-permission':
      return addPermission(draft, command);
    case 'remove-permission':
      return removePermission(draft, command);
    case 'purge':
      return purge(draft, command);
    case 'delete':
      return deleteMessages(draft, command);
    case 'change-visibility':
      return changeVisibility(draft, command);
    case 'release':
      return release(draft, command);
    case 'send':
      return send(draft, command, taken);
    case 'append-moved': {
      const result = appendMoved(draft, command, resources);
      if (result) return result;
      neededSources.set(command.source.incarnation, command.source.name);
      return { outcome: { kind: 'done' }, effect: false };
    }
    case 'resolve-moves':
      return resolveMoves(draft, command);
    case 'return-moves':
      return returnMoves(draft, command);
    case 'forget-links':
      return forgetLinks(draft, command);
    case 'start-move-task':
      return startMoveTask(draft, command, writer);
    case 'cancel-move-task':
      return cancelMoveTask(draft, command);
    case 'delete-queue':
      throw new Error('delete-queue is applied alone');
  }
}

function setAttributes(draft: Draft, next: QueueState['attributes'], pages: PageReader): CommandResult {
  const { fifo, delaySeconds } = resolveAttributes(next);
  const byMillis = (delaySeconds - draft.resolved.delaySeconds) * millisPerSecond;
  if (fifo && byMillis !== 0 && !moveDues(draft, byMillis, pages))
    return { outcome: { kind: 'unreadable' }, effect: false };
  draft.setAttributes(next);
  draft.modifiedAtMillis = draft.time.stampMillis;
  return { outcome: { kind: 'done' }, effect: true };
}

/** DeleteQueue comes first: everything else in the batch finds the queue gone. */
function bury(input: TransitionInput): TransitionResult {
  const results = input.commands.map((command): CommandResult => {
    const outcome: CommandOutcome =
      command.kind === 'delete-queue' ? { kind: 'done' } : { kind: 'queue-missing' };
    return { outcome, effect: true };
  });
  const tombstone = {
    buriedIncarnation: input.state.incarnation,
    buriedVersion: input.state.version,
    closingWriter: input.writer.id,
    closingAttempt: input.writer.attempt,
    deletedAtMillis: input.time.stampMillis,
  };
  return { kind: 'applied', next: { kind: 'tombstone', tombstone }, results, changed: true };
}

/** Enters this attempt; the entry that has been silent longest makes room and raises the floor. */
function entered(
  state: QueueState,
  writer: TransitionInput['writer'],
  writersMax: number,
): Pick<QueueState, 'writers' | 'writersFloor'> {
  const own: WriterEntry = { roundMillis: 0, ...writer, version: state.version + 1 };
  const others = state.writers.filter((entry) => entry.id !== writer.id);
  let writersFloor = state.writersFloor;
  while (others.length >= writersMax) {
    const oldest = others.reduce((a, b) => (b.version < a.version ? b : a));
    others.splice(others.indexOf(oldest), 1);
    writersFloor = Math.max(writersFloor, oldest.version);
  }
  return { writers: [...others, own], writersFloor };
}
