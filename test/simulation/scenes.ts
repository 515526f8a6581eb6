/**
 * Notes the rare scenes that a run comes upon (reached.ts), from the same events that checkers see. Judges nothing.
 * What costs a loop is looked for until it was found once.
 */

import { isSparse } from '../../src/core/choose-compaction.ts';
import { pageKinds } from '../../src/core/pages.ts';
import { resolveAttributes } from '../../src/core/queue-attributes.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { countWithin, has } from '../../src/core/range-set.ts';
import { decodeReceiptHandle } from '../../src/core/receipt-handle.ts';
import { stampOf } from '../../src/core/stamps.ts';
import { leftRangesOf } from '../../src/format/left-codec.ts';
import { manifestsPrefix, parseObjectKey } from '../../src/format/object-keys.ts';
import { type DiffChecker, isCompacted, leaseKey } from './checkers/check.ts';
import type { Call, CallAnswer, Landing, ObjectChange } from './history.ts';
import type { LandingDiff, Ledger } from './ledger.ts';
import type { Reached } from './reached.ts';

/** So many may leave with one receive. */
const receiveMax = 10;

export class Scenes implements DiffChecker {
  readonly name = 'scenes judge nothing';
  readonly #reached: Reached;
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #open = new Map<number, Call>();
  /** By node and queue: when it last asked for or wrote the manifest, sent a write of it, landed one. */
  readonly #lookedAt = new Map<string, number>();
  readonly #sentAt = new Map<string, number>();
  readonly #landedAt = new Map<string, number>();
  readonly #leases = new Map<string, { readonly node: number; readonly at: number }>();
  readonly #attributesAt = new Map<string, { readonly node: number; readonly at: number }>();
  /** Who appended, by source, target and number. */
  readonly #appendedBy = new Map<string, number>();
  readonly #wasThere = new Set<string>();
  readonly #endedWithIntents = new Set<string>();
  /** By queue: the incarnation that letters were on their way to. */
  readonly #endedTarget = new Map<string, string>();

  constructor(reached: Reached, ledger: Ledger, now: () => number) {
    this.#reached = reached;
    this.#ledger = ledger;
    this.#now = now;
  }

  arrived(call: Call): undefined {
    this.#open.set(call.id, call);
    const { request, node } = call;
    const lookedAt = this.#lookedAt.get(`${node} ${request.queue}`);
    if (lookedAt === undefined) return undefined;
    const changed = this.#attributesAt.get(request.queue);
    if (changed && changed.node !== node && changed.at > lookedAt)
      this.#reached.note('attributes change behind the back of a node');
    if (this.#reached.counts.has('a stale node is asked about a handle of another')) return undefined;
    const handles =
      request.kind === 'delete'
        ? request.handles
        : request.kind === 'visibility'
          ? request.entries.map(({ receiptHandle }) => receiptHandle)
          : [];
    for (const text of handles) {
      const handle = decodeReceiptHandle(text);
      const lease = handle && this.#leases.get(leaseKey(handle));
      if (lease && lease.node !== node && lease.at > lookedAt)
        this.#reached.note('a stale node is asked about a handle of another');
    }
    return undefined;
  }

  answered({ id }: Call, _answer: CallAnswer): undefined {
    this.#open.delete(id);
    return undefined;
  }

  requested(node: number, method: string, key: string, pausedMillis: number): void {
    if (!key.startsWith(manifestsPrefix)) return;
    const queue = key.slice(manifestsPrefix.length);
    const name = `${node} ${queue}`;
    if (method === 'get') this.#lookedAt.set(name, this.#now());
    else this.#sentAt.set(name, this.#now());
    if (pausedMillis === 0 || method !== 'putIfMatch') return;
    const life = this.#ledger.queues.get(queue);
    if (life && pausedMillis > resolveAttributes(life.state.attributes).retentionSeconds * 1000)
      this.#reached.note('a process is paused between apply and swap for longer than the retention');
  }

  /** What is left open by a dead process never ends. */
  killed(node: number): void {
    for (const [id, call] of this.#open) {
      if (call.node !== node) continue;
      this.#open.delete(id);
      const { kind, queue } = call.request;
      if (kind !== 'create' && kind !== 'delete-queue') continue;
      const since = (times: Map<string, number>) => (times.get(`${node} ${queue}`) ?? -1) >= call.arrivedAt;
      const step = kind === 'create' ? 'create' : 'delete';
      if (since(this.#landedAt)) this.#reached.note(`${step}: killed after its write landed`);
      else if (since(this.#sentAt)) this.#reached.note(`${step}: killed with its write under way`);
      else this.#reached.note(`${step}: killed before its write`);
    }
  }

  landed({ at, node, queue, before, after }: Landing): undefined {
    this.#lookedAt.set(`${node} ${queue}`, at);
    this.#landedAt.set(`${node} ${queue}`, at);
    if (before?.kind === 'tombstone' && !after) this.#reached.note('a tombstone is removed');
    if (before?.kind === 'queue' && after?.kind === 'tombstone') this.#ended(queue, before.state);
    if (after?.kind === 'queue' && before?.kind !== 'queue') this.#created(queue);
    return undefined;
  }

  #ended(queue: string, { tail, segments, intents, incarnation }: QueueState): void {
    if (tail.size + segments.size > 0) this.#reached.note('a queue with messages is deleted');
    if (intents.size > 0) this.#endedWithIntents.add(queue);
    if (this.#moving(incarnation)) this.#endedTarget.set(queue, incarnation);
  }

  #created(queue: string): void {
    if (this.#wasThere.has(queue)) this.#reached.note('a name is created again');
    this.#wasThere.add(queue);
    if (this.#endedWithIntents.delete(queue))
      this.#reached.note('the source of a move is deleted and created again in the middle');
    const target = this.#endedTarget.get(queue);
    this.#endedTarget.delete(queue);
    if (target !== undefined && this.#moving(target))
      this.#reached.note('the target of a move is deleted and created again in the middle');
  }

  /** Whether letters are on their way to this incarnation. */
  #moving(target: string): boolean {
    for (const { state } of this.#ledger.queues.values())
      for (const { targetIncarnation } of state.intents.values())
        if (targetIncarnation === target) return true;
    return false;
  }

  diff(diff: LandingDiff): undefined {
    const { before, after, landing, incarnation } = diff;
    const { node, at } = landing;
    for (const [sequence, { token }] of after.deliveries)
      if (before?.deliveries.get(sequence)?.token !== token)
        this.#leases.set(leaseKey({ incarnation: incarnation.id, sequence, token }), { node, at });
    if (!before) return undefined;
    for (const { request } of this.#open.values()) {
      if (request.queue !== incarnation.queue) continue;
      if (request.kind === 'attributes' && differ(before.attributes, after.attributes))
        this.#attributesAt.set(request.queue, { node, at });
      if (after.purgeWatermark === before.purgeWatermark) continue;
      if (request.kind === 'send') this.#reached.note('a purge lands while a send waits');
      if (request.kind === 'receive') this.#reached.note('a purge lands while a receive waits');
    }
    this.#moves(diff, before);
    this.#segments(before, after);
    this.#pages(diff.landing);
    for (const { message } of diff.ended)
      if (stampOf(message) + resolveAttributes(after.attributes).retentionSeconds * 1000 <= after.timeMillis)
        this.#reached.note('retention ends a message');
    if (!this.#reached.counts.has('a lease is given back'))
      for (const [sequence] of before.deliveries)
        if (!after.deliveries.has(sequence) && has(after.ready, sequence))
          this.#reached.note('a lease is given back');
    return undefined;
  }

  #moves({ landing, incarnation }: LandingDiff, before: QueueState): void {
    const { after } = landing;
    if (after?.kind !== 'queue') return;
    for (const [source, { lastNumber }] of after.state.incomingLinks) {
      const from = before.incomingLinks.get(source)?.lastNumber ?? 0;
      for (let number = from + 1; number <= lastNumber; number++)
        this.#appendedBy.set(`${source}/${incarnation.id}/${number}`, landing.node);
    }
    for (const [sequence, { targetIncarnation, number }] of before.intents) {
      if (after.state.intents.has(sequence)) continue;
      const appendedBy = this.#appendedBy.get(`${incarnation.id}/${targetIncarnation}/${number}`);
      if (appendedBy !== undefined && appendedBy !== landing.node)
        this.#reached.note('two nodes move the same dead letters');
      if (incarnation.live.has(sequence)) this.#reached.note('a letter returns from a target that is gone');
    }
  }

  #pages({ storedBefore, storedAfter }: LandingDiff['landing']): void {
    const [before, after] = [storedBefore!.delayedPages, storedAfter!.delayedPages];
    if (before !== after) {
      for (const id of after.keys())
        if (!before.has(id)) this.#reached.note('a page of delayed messages is written');
      for (const id of before.keys())
        if (!after.has(id)) this.#reached.note('a page of delayed messages comes back');
    }
    this.#leasePages(storedBefore!.leasePages, storedAfter!.leasePages);
    this.#readyPages(storedBefore!, storedAfter!);
    this.#segmentsPages(storedBefore!, storedAfter!);
  }

  #readyPages(
    { readyPages: before }: QueueState,
    { readyPages: after, ready, purgeWatermark }: QueueState,
  ): void {
    if (before === after) return;
    for (const id of after.keys())
      if (!before.has(id)) this.#reached.note('a page of ready ranges is written');
    for (const [id, { firstSequence, lastSequence, count }] of before) {
      if (after.has(id) || lastSequence < purgeWatermark) continue;
      // A receive takes some of it at once.
      const left = countWithin(ready, firstSequence, lastSequence + 1);
      if (left > 0 && left <= count) this.#reached.note('a page of ready ranges comes back');
      if (left === 0 && count > receiveMax) this.#reached.note('a page of ready ranges ends unread');
    }
  }

  #segmentsPages(
    { segmentsPages: before }: QueueState,
    { segmentsPages: after, segments, purgeWatermark }: QueueState,
  ): void {
    if (before === after) return;
    for (const id of after.keys()) if (!before.has(id)) this.#reached.note('a page of segments is written');
    for (const [id, { firstSequence, lastSequence }] of before) {
      if (after.has(id) || lastSequence < purgeWatermark) continue;
      const isBack = [...segments.values()].some(({ runs }) =>
        runs.some(({ firstSequence: first }) => firstSequence <= first && first <= lastSequence),
      );
      this.#reached.note(isBack ? 'a page of segments comes back' : 'a page of segments ends whole');
    }
  }

  #leasePages(before: QueueState['leasePages'], after: QueueState['leasePages']): void {
    if (before === after) return;
    for (const [id, { remaining, left }] of after) {
      const earlier = before.get(id);
      if (leftRangesOf(left)) this.#reached.note('what has left a page is told by ranges');
      if (!earlier) this.#reached.note('a page of deliveries is written');
      else if (remaining < earlier.remaining) this.#reached.note('a delivery leaves its page');
    }
    for (const id of before.keys()) if (!after.has(id)) this.#reached.note('a page of deliveries goes');
  }

  #segments(before: QueueState, after: QueueState): void {
    for (const [id, reference] of after.segments) {
      if (before.segments.has(id)) continue;
      const { runs } = reference;
      if (isCompacted(before, reference)) {
        this.#reached.note('a compaction landed');
        for (const [old, replaced] of before.segments)
          if (!after.segments.has(old) && isSparse(replaced))
            this.#reached.note('a sparse segment was rewritten');
        continue;
      }
      const spilled = runs.some(({ firstSequence }) => before.tail.has(firstSequence));
      this.#reached.note(spilled ? 'the tail is spilled' : 'a segment of large messages is named');
    }
  }

  object({ key, present }: ObjectChange): undefined {
    const parts = parseObjectKey(key);
    if (parts?.kind === 'turn' && present) this.#reached.note('a far writer asks for a turn');
    if (parts && !present && pageKinds.some((kind) => kind === parts.kind))
      this.#reached.note('a page is collected');
    if (parts?.kind !== 'seg') return undefined;
    if (!present) this.#reached.note('a segment is collected');
    const state = this.#ledger.incarnations.get(parts.incarnation)?.state;
    if (present && state && parts.baseVersion < state.collectedBelow)
      this.#reached.note('an upload lands below collectedBelow');
    return undefined;
  }
}

function differ(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return true;
  for (const [name, value] of a) if (b.get(name) !== value) return true;
  return false;
}
