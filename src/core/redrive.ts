/**
 * Moves between queues (DESIGN.md section 6): the source commits an intent, the target appends only the next number
 * of that link, the source removes. All three steps are here, pure; engine/mover.ts walks messages through them.
 *
 * Invariants: an intent's numbers rise by one per source and target incarnation; a number is appended at most once,
 * and only while the source, read after the target's state, still holds its intent.
 */
import type { Command, CommandResult, MovedMessage } from './command.ts';
import type { Draft } from './draft.ts';
import type { Incarnation } from './ids.ts';
import type { StoredMessage } from './message.ts';
import { groupOf } from './message-groups.ts';
import { inlineBytesOf } from './message-size.ts';
import { countMoved, destinationGone, failTask, settleTask } from './move-task.ts';
import type { FoundDelivery } from './open-lease-page.ts';
import { queueNameOfArn } from './queue-arn.ts';
import { carried, type Delivery, type Intent } from './queue-state.ts';
import type { Resources } from './resources.ts';

type Received = Pick<Delivery, 'receiveCount' | 'receivedElsewhere'>;

/** `wait`: it must move, but too many are under way or the target is not loaded yet. */
type Verdict = 'deliver' | 'wait' | Target;

interface Target {
  readonly queueName: string;
  readonly targetIncarnation: Incarnation;
}

/** Whether a visible, already received message may be delivered once more, or where it has to go instead. */
export function considerMove(
  draft: Draft,
  previous: Delivery,
  resources: Resources,
  neededTargets: Set<string>,
): Verdict {
  const policy = draft.resolved.redrivePolicy;
  if (!policy || receivedHere(previous) < policy.maxReceiveCount) return 'deliver';
  const queueName = queueNameOfArn(policy.deadLetterTargetArn)?.name;
  if (queueName === undefined) return 'deliver';
  const target = resources.target(queueName);
  if (!target) {
    neededTargets.add(queueName);
    return 'wait';
  }
  if (target.kind === 'missing') return 'deliver';
  if (target.kind === 'unreadable') return 'wait';
  if (draft.intents.current.size >= draft.limits.intentsMax) return 'wait';
  return { queueName, targetIncarnation: target.incarnation };
}

/** What the policy counts: in a chain of dead-letter queues the count that consumers see goes on from queue to queue. */
export function receivedHere({ receiveCount, receivedElsewhere = 0 }: Received): number {
  return receiveCount - receivedElsewhere;
}

/** The source's step, for a letter. */
export function intend(draft: Draft, found: FoundDelivery, target: Target): void {
  const { sequence, delivery: previous } = found;
  draft.deliveries.end(found);
  giveTo(draft, sequence, target, {
    receiveCount: previous.receiveCount,
    firstReceivedAtMillis: previous.firstReceivedAtMillis,
    ...(previous.group !== undefined && { group: previous.group }),
    ...carried(previous),
  });
}

/** Of a message that the caller has taken out of its place. */
export function giveTo(
  draft: Draft,
  sequence: number,
  { queueName, targetIncarnation }: Target,
  from: Omit<Intent, 'targetIncarnation' | 'number'>,
): void {
  const number = (draft.outgoingLinks.current.get(targetIncarnation)?.lastNumber ?? 0) + 1;
  draft.outgoingLinks.set(targetIncarnation, { queueName, lastNumber: number });
  draft.intents.set(sequence, { targetIncarnation, number, ...from });
}

/** The target's step. Undefined: the source has to be read first, after the state this is applied to †. */
export function appendMoved(
  draft: Draft,
  command: Command & { readonly kind: 'append-moved' },
  resources: Resources,
): CommandResult | undefined {
  const { source } = command;
  const view = resources.source(source.incarnation);
  if (!view) return undefined;
  const link = draft.incomingLinks.current.get(source.incarnation);
  let lastNumber = link?.lastNumber ?? 0;
  if (view.kind === 'gone') {
    const effect = draft.incomingLinks.delete(source.incarnation);
    return { outcome: { kind: 'appended', through: lastNumber }, effect };
  }
  let effect = false;
  for (const moved of command.messages) {
    if (moved.number !== lastNumber + 1 || !view.pending.has(moved.number)) continue;
    if (moved.redriven) appendAsNew(draft, moved);
    else appendOne(draft, moved, source.arn);
    lastNumber = moved.number;
    effect = true;
  }
  if (effect) draft.incomingLinks.set(source.incarnation, { queueName: source.name, lastNumber });
  return { outcome: { kind: 'appended', through: lastNumber }, effect };
}

/** Keeps id, body, attributes, group and stamp; the receive count goes on. */
function appendOne(draft: Draft, moved: MovedMessage, sourceArn: string): void {
  const sequence = draft.nextSequence++;
  const message = arrived(draft, { ...moved.message, deadLetterSourceArn: sourceArn });
  draft.append(sequence, message, inlineBytesOf(message, moved.contentBytes), moved);
  draft.deliveries.add(sequence, {
    visibleAtMillis: draft.time.nowMillis,
    receiveCount: moved.receiveCount,
    firstReceivedAtMillis: moved.firstReceivedAtMillis,
    leasedAtMillis: draft.time.nowMillis,
    token: draft.drawToken(),
    leaseVersion: draft.nextVersion,
    ...(draft.resolved.fifo && { group: groupOf(message) }),
    ...carried({ receivedElsewhere: moved.receiveCount }),
  });
}

/** As if it were sent now, but without delay and past deduplication: only body, attributes, group and sender are as they were. */
function appendAsNew(draft: Draft, moved: MovedMessage): void {
  const sequence = draft.nextSequence++;
  const { movedAtMillis: _, ...content } = moved.message;
  const message = {
    ...content,
    sentAtMillis: draft.time.stampMillis,
    deadLetterSourceArn: undefined,
    ...(draft.resolved.fifo && { deduplicationId: content.messageId }),
  };
  draft.append(sequence, message, inlineBytesOf(message, moved.contentBytes), moved);
  draft.makeReady(sequence, sequence + 1);
  // A busy group that comes back from its dead-letter queue is as busy as if it were sent.
  if (!draft.resolved.fifo)
    draft.fairness.sent(sequence, content.groupId === undefined ? undefined : groupOf(content));
}

/**
 * In a FIFO queue retention counts from the move, and what two letters were deduplicated by in their source says
 * nothing here: their own ids take its place, as SQS has it.
 */
function arrived(draft: Draft, message: StoredMessage): StoredMessage {
  if (!draft.resolved.fifo) return message;
  return { ...message, deduplicationId: message.messageId, movedAtMillis: draft.time.stampMillis };
}

export function resolveMoves(
  draft: Draft,
  command: Command & { readonly kind: 'resolve-moves' },
): CommandResult {
  let effect = false;
  let redriven = 0;
  for (const [sequence, intent] of draft.intents.current) {
    if (intent.targetIncarnation !== command.targetIncarnation || intent.number > command.through) continue;
    draft.intents.delete(sequence);
    draft.endBody(sequence);
    effect = true;
    if (intent.redriven) redriven++;
  }
  countMoved(draft, redriven);
  settleTask(draft);
  return { outcome: { kind: 'done' }, effect };
}

/**
 * The target's incarnation is gone: its messages come back under their old sequence numbers, purged ones end. The task that
 * moved any of them fails.
 */
export function returnMoves(
  draft: Draft,
  command: Command & { readonly kind: 'return-moves' },
): CommandResult {
  let effect = draft.outgoingLinks.delete(command.targetIncarnation);
  for (const [sequence, intent] of draft.intents.current) {
    if (intent.targetIncarnation !== command.targetIncarnation) continue;
    draft.intents.delete(sequence);
    effect = true;
    if (intent.redriven) failTask(draft, destinationGone);
    if (sequence < draft.purgeWatermark) draft.endBody(sequence);
    else putBack(draft, sequence, intent);
  }
  settleTask(draft);
  return { outcome: { kind: 'done' }, effect };
}

function putBack(draft: Draft, sequence: number, intent: Intent): void {
  // A move task takes also what was never received.
  if (intent.receiveCount === 0) draft.giveBackToReady([sequence]);
  else
    draft.deliveries.add(sequence, {
      visibleAtMillis: draft.time.nowMillis,
      receiveCount: intent.receiveCount,
      firstReceivedAtMillis: intent.firstReceivedAtMillis,
      leasedAtMillis: draft.time.nowMillis,
      token: draft.drawToken(),
      leaseVersion: draft.nextVersion,
      ...(intent.group !== undefined && { group: intent.group }),
      ...carried(intent),
    });
}

/**
 * Links whose other end is gone for ever. The link of a source may go although a late append of it may still come †:
 * every append reads its source after the state it is applied to, and finds it gone.
 *   1. a mover reads the target at version 7 and the source with intent 1 pending, and stalls before its swap;
 *   2. another appends and resolves number 1; the source is deleted; its link is forgotten here, in version 9;
 *   3. the mover wakes: its swap against version 7 fails, and what it read of the source is void with that version.
 * The link of a target stays while intents wait for it: return-moves ends both.
 */
export function forgetLinks(
  draft: Draft,
  command: Command & { readonly kind: 'forget-links' },
): CommandResult {
  let effect = false;
  for (const source of command.incoming) if (draft.incomingLinks.delete(source)) effect = true;
  const awaited = new Set<Incarnation>();
  for (const intent of draft.intents.current.values()) awaited.add(intent.targetIncarnation);
  for (const target of command.outgoing)
    if (!awaited.has(target) && draft.outgoingLinks.delete(target)) effect = true;
  return { outcome: { kind: 'done' }, effect };
}

/** The intents that wait for one target, in order of their numbers. */
export function pendingNumbers(
  intents: ReadonlyMap<number, { readonly targetIncarnation: Incarnation; readonly number: number }>,
  targetIncarnation: Incarnation,
): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const intent of intents.values())
    if (intent.targetIncarnation === targetIncarnation) numbers.add(intent.number);
  return numbers;
}
