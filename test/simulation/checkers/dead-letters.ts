/**
 * Dead letters move exactly once: each number of a link brings the message that its intent named, while the source
 * still holds the intent; and a message gets an intent only when its receives are used up, and then no delivery more.
 */
import type { StoredMessage } from '../../../src/core/message.ts';
import { queueNameOfArn } from '../../../src/core/queue-arn.ts';
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import { isFifoState } from '../fifo.ts';
import type { IncarnationLife, LandingDiff, Ledger, MessageLife } from '../ledger.ts';
import { markerOf } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

/** What a batch knows of a target is not older than this. */
const batchMillisMax = 60_000;

/** What an intent gave up. */
interface Given {
  readonly message: StoredMessage;
  readonly receiveCount: number;
  /** By a move task: it arrives under another id. */
  readonly redriven: boolean;
}

/** By what a moved message is known on both sides. */
function nameOf(message: StoredMessage, redriven: boolean): string {
  return redriven ? markerOf(message.body) : message.messageId;
}

/** The receives that a message came from another queue with: those of a chain are counted anew in each queue. */
const arrivedWith = new WeakMap<MessageLife, number>();

function elsewhere({ live }: IncarnationLife, sequence: number): number {
  const life = live.get(sequence);
  return (life && arrivedWith.get(life)) ?? 0;
}

export function deadLettersChecker(ledger: Ledger, clockErrorMillis: () => number | undefined): DiffChecker {
  /** By `<source>/<target>/<number>`. */
  const intents = new Map<string, Given>();
  const taken = new Set<string>();
  /** When the present version of each incarnation landed. */
  const landedAt = new Map<IncarnationLife, number>();
  return {
    name: 'a dead letter moves exactly once',
    diff: (diff) => {
      const baseAt = landedAt.get(diff.incarnation) ?? 0;
      landedAt.set(diff.incarnation, diff.landing.at);
      return (
        newIntents(diff, intents, ledger) ??
        appended(diff, intents, taken, ledger, baseAt) ??
        delivered(diff, ledger, clockErrorMillis())
      );
    },
  };
}

function newIntents(
  { before, after, incarnation }: LandingDiff,
  intents: Map<string, Given>,
  ledger: Ledger,
): string | undefined {
  for (const [sequence, intent] of after.intents) {
    // One commit may take a message back from a target that is gone and give it to the next one.
    const same = before?.intents.get(sequence);
    if (same?.targetIncarnation === intent.targetIncarnation && same.number === intent.number) continue;
    const key = `${after.incarnation}/${intent.targetIncarnation}/${intent.number}`;
    // A source may forget the counter of a target that is gone, and a batch that knew it still gives its first number
    // again: nothing lands there any more, and the message returns.
    const targetIsGone = ledger.incarnations.get(intent.targetIncarnation)?.endedAt !== undefined;
    if (intents.has(key) && !targetIsGone) return `number ${intent.number} was given twice`;
    const { receiveCount, redriven = false } = intent;
    intents.set(key, { message: incarnation.live.get(sequence)!.message, receiveCount, redriven });
    if (redriven) continue;
    const policy = resolveAttributes(after.attributes).redrivePolicy;
    const received = intent.receiveCount - elsewhere(incarnation, sequence);
    if (!policy || received < policy.maxReceiveCount)
      return `sequence ${sequence} moves after ${received} receives, allowed are ${policy?.maxReceiveCount}`;
  }
  return undefined;
}

function appended(
  { before, after, born, incarnation }: LandingDiff,
  intents: ReadonlyMap<string, Given>,
  taken: Set<string>,
  ledger: Ledger,
  /** When the state landed that this one replaces: the source was read after that. */
  baseAt: number,
): string | undefined {
  const moved = born
    .filter((life) => life.moved)
    .map(({ message }) => nameOf(message, message.deadLetterSourceArn === undefined));
  const expected: string[] = [];
  const retentionMillis = resolveAttributes(after.attributes).retentionSeconds * 1000;
  for (const [source, { lastNumber }] of after.incomingLinks) {
    const from = before?.incomingLinks.get(source)?.lastNumber ?? 0;
    for (let number = from + 1; number <= lastNumber; number++) {
      const key = `${source}/${after.incarnation}/${number}`;
      // A link that was dropped with its source begins anew, and must bring nothing a second time.
      if (taken.has(key)) return `${incarnation.queue} took number ${number} twice`;
      taken.add(key);
      const given = intents.get(key);
      if (given === undefined) return `${incarnation.queue} took number ${number}, which nobody gave`;
      const { message, redriven } = given;
      const name = nameOf(message, redriven);
      const arrived = born.find((life) => life.message.messageId === message.messageId);
      if (arrived && !redriven) arrivedWith.set(arrived, given.receiveCount);
      // A receive of the same commit may have found its retention over.
      // In a FIFO queue its retention has just begun.
      const ended =
        !redriven && !isFifoState(after) && message.sentAtMillis + retentionMillis <= after.timeMillis;
      if (!ended || moved.includes(name)) expected.push(name);
      const sourceLife = ledger.incarnations.get(source);
      const holds = [...(sourceLife?.state.intents.values() ?? [])].some(
        (intent) => intent.number === number && intent.targetIncarnation === after.incarnation,
      );
      if (sourceLife?.endedAt !== undefined && sourceLife.endedAt < baseAt)
        return `${incarnation.queue} took number ${number} of a source that was gone before its base landed`;
      if (sourceLife?.endedAt === undefined && !holds)
        return `${incarnation.queue} took number ${number} again or too late: its intent is gone`;
    }
  }
  if (moved.toSorted().join() !== expected.toSorted().join())
    return `${incarnation.queue} took ${moved.join()} where its links say ${expected.join()}`;
  return undefined;
}

/** Without a target a message is delivered on, so only where the target has been there for long. */
function delivered(
  { before, after, landing, incarnation }: LandingDiff,
  ledger: Ledger,
  clockErrorMillis: number | undefined,
): string | undefined {
  const policy = resolveAttributes(after.attributes).redrivePolicy;
  if (!policy || !before || clockErrorMillis === undefined) return undefined;
  const target = ledger.queues.get(queueNameOfArn(policy.deadLetterTargetArn)?.name ?? '');
  if (!target || target.bornAt > landing.sentAt - batchMillisMax - clockErrorMillis) return undefined;
  for (const [sequence, { receiveCount, token }] of after.deliveries) {
    const previous = before.deliveries.get(sequence);
    const received = receiveCount - elsewhere(incarnation, sequence);
    if (!previous || previous.token === token || received <= policy.maxReceiveCount) continue;
    // Given back: it was not received.
    if (receiveCount <= previous.receiveCount) continue;
    return `sequence ${sequence} of ${incarnation.queue} is delivered ${received} times, allowed are ${policy.maxReceiveCount}`;
  }
  return undefined;
}
