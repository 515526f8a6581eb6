/**
 * Dead letters move exactly once: each number of a link brings the message that its intent named, while the source
 * still holds the intent; and a message gets an intent only when its receives are used up.
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import type { LandingDiff, Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function deadLettersChecker(ledger: Ledger): DiffChecker {
  /** `<source>/<target>/<number>` → message id. */
  const intents = new Map<string, string>();
  return {
    name: 'a dead letter moves exactly once',
    diff: (diff) => newIntents(diff, intents) ?? appended(diff, intents, ledger),
  };
}

function newIntents(
  { before, after, incarnation }: LandingDiff,
  intents: Map<string, string>,
): string | undefined {
  for (const [sequence, intent] of after.intents) {
    // One commit may take a message back from a target that is gone and give it to the next one.
    const same = before?.intents.get(sequence);
    if (same?.targetIncarnation === intent.targetIncarnation && same.number === intent.number) continue;
    const key = `${after.incarnation}/${intent.targetIncarnation}/${intent.number}`;
    if (intents.has(key)) return `number ${intent.number} was given twice`;
    intents.set(key, incarnation.live.get(sequence)!.message.messageId);
    const policy = resolveAttributes(after.attributes).redrivePolicy;
    if (!policy || intent.receiveCount < policy.maxReceiveCount)
      return `sequence ${sequence} moves after ${intent.receiveCount} receives, allowed are ${policy?.maxReceiveCount}`;
  }
  return undefined;
}

function appended(
  { before, after, born, incarnation }: LandingDiff,
  intents: ReadonlyMap<string, string>,
  ledger: Ledger,
): string | undefined {
  const moved = born.filter((life) => life.moved).map(({ message }) => message.messageId);
  const expected: string[] = [];
  for (const [source, { lastNumber }] of after.incomingLinks) {
    const from = before?.incomingLinks.get(source)?.lastNumber ?? 0;
    for (let number = from + 1; number <= lastNumber; number++) {
      const id = intents.get(`${source}/${after.incarnation}/${number}`);
      if (id === undefined) return `${incarnation.queue} took number ${number}, which nobody gave`;
      expected.push(id);
      const sourceLife = ledger.incarnations.get(source);
      const holds = [...(sourceLife?.state.intents.values() ?? [])].some(
        (intent) => intent.number === number && intent.targetIncarnation === after.incarnation,
      );
      if (sourceLife?.endedAt === undefined && !holds)
        return `${incarnation.queue} took number ${number} again or too late: its intent is gone`;
    }
  }
  if (moved.toSorted().join() !== expected.toSorted().join())
    return `${incarnation.queue} took ${moved.join()} where its links say ${expected.join()}`;
  return undefined;
}
