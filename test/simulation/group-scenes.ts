/** Notes the rare scenes of FIFO queues (reached.ts), as scenes.ts does those of all. Judges nothing. */
import { isOver } from '../../src/core/deduplication.ts';
import { has } from '../../src/core/range-set.ts';
import type { SendEntryOutcome } from '../../src/engine/queue-api.ts';
import type { DiffChecker } from './checkers/check.ts';
import { leasedBy } from './checkers/leased.ts';
import { isFifoQueue, isFifoState } from './fifo.ts';
import type { Call, CallAnswer } from './history.ts';
import type { LandingDiff, Ledger } from './ledger.ts';
import type { Reached } from './reached.ts';

export class GroupScenes implements DiffChecker {
  readonly name = 'scenes of groups judge nothing';
  readonly #reached: Reached;
  readonly #ledger: Ledger;
  /** Who landed it, by incarnation and sequence: the message, and its latest lease. */
  readonly #acceptedBy = new Map<string, number>();
  readonly #leasedBy = new Map<string, number>();

  constructor(reached: Reached, ledger: Ledger) {
    this.#reached = reached;
    this.#ledger = ledger;
  }

  diff(diff: LandingDiff): undefined {
    const { after, before, born, landing } = diff;
    if (!isFifoState(after)) return undefined;
    for (const { incarnation, sequence } of born)
      this.#acceptedBy.set(`${incarnation}/${sequence}`, landing.node);
    this.#leases(diff);
    if (before) this.#pages(diff);
    return undefined;
  }

  #leases({ before, after, landing, incarnation }: LandingDiff): void {
    const { surely } = leasedBy({ before, after, landing, incarnation, born: [], ended: [] });
    if (surely.size === 0) return;
    const { node } = landing;
    const heads = new Map<string | undefined, number>();
    const last = Math.max(...surely);
    const groups = new Map<string | undefined, number>();
    for (const sequence of surely) {
      const { groupId } = incarnation.live.get(sequence)!.message;
      groups.set(groupId, (groups.get(groupId) ?? 0) + 1);
      const previous = before?.deliveries.get(sequence);
      if (previous && previous.visibleAtMillis > previous.leasedAtMillis) heads.set(groupId, sequence);
      this.#leasedBy.set(`${incarnation.id}/${sequence}`, node);
    }
    if ([...groups.values()].some((count) => count > 1))
      this.#reached.note('a receive takes several messages of a group');
    for (const { sequence, message } of incarnation.live.values()) {
      const head = heads.get(message.groupId);
      if (head !== undefined && sequence > head) this.#reached.note('a group is unlocked by expiry');
      if (surely.has(sequence) || sequence > last || !has(after.ready, sequence)) continue;
      this.#passedOver(message.groupId, sequence, node, { after, incarnation });
    }
  }

  /** Ready, and something later was taken. */
  #passedOver(
    groupId: string | undefined,
    passed: number,
    node: number,
    { after, incarnation }: Pick<LandingDiff, 'after' | 'incarnation'>,
  ): void {
    for (const sequence of after.deliveries.keys()) {
      if (sequence > passed || incarnation.live.get(sequence)?.message.groupId !== groupId) continue;
      const by = this.#leasedBy.get(`${incarnation.id}/${sequence}`);
      if (by !== undefined && by !== node) this.#reached.note('a group is locked on another node');
      if (!incarnation.stored.deliveries.has(sequence)) this.#reached.note('a group is locked in a page');
    }
    for (const sequence of after.intents.keys())
      if (sequence < passed && incarnation.live.get(sequence)?.message.groupId === groupId)
        this.#reached.note('a group is locked by a letter on its way');
  }

  #pages({ before, after, landing: { storedBefore, storedAfter } }: LandingDiff): void {
    const [pagesBefore, pagesAfter] = [storedBefore!.deduplicationPages, storedAfter!.deduplicationPages];
    for (const id of pagesAfter.keys())
      if (!pagesBefore.has(id)) this.#reached.note('a page of deduplication ids is written');
    if (after.purgeWatermark > before!.purgeWatermark) {
      if (pagesBefore.size > 0) this.#reached.note('a purge drops a page of deduplication ids');
      return;
    }
    for (const [id, { lastAcceptedAtMillis }] of pagesBefore)
      if (!pagesAfter.has(id) && isOver(lastAcceptedAtMillis, after.timeMillis))
        this.#reached.note('a page of deduplication ids is over');
  }

  answered({ request, node }: Call, answer: CallAnswer): undefined {
    if (!isFifoQueue(request.queue) || answer.kind !== 'done' || !('entries' in answer)) return undefined;
    if (request.kind !== 'send') {
      if (answer.entries.some(({ kind }) => kind === 'expired'))
        this.#reached.note('a handle of a FIFO queue has expired');
      return undefined;
    }
    const life = this.#ledger.queues.get(request.queue);
    for (const outcome of answer.entries as readonly SendEntryOutcome[]) {
      if (outcome.kind !== 'duplicate') continue;
      this.#reached.note('a duplicate is answered');
      const sequence = Number(outcome.sequenceNumber);
      const by = life && this.#acceptedBy.get(`${life.id}/${sequence}`);
      if (by !== undefined && by !== node) this.#reached.note('a duplicate of what another node accepted');
      if (!life) continue;
      if (![...life.stored.deduplication.values()].some((entry) => entry.sequence === sequence))
        this.#reached.note('a duplicate is found in a page');
      if (!life.live.has(sequence)) this.#reached.note('a duplicate of a message that is gone');
    }
    return undefined;
  }
}
