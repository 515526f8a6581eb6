/**
 * What a run really went through: which faults struck and which rare scenes came about. A simulation that draws a
 * fault at a rate of nothing proves nothing about it, so the fixed set of seeds must reach every kind (`dst.ts --fixed`).
 */
import type { FaultRates } from './config.ts';

/** Fates of single requests (sim-store.ts), by what they are called there. */
const fates = {
  slowAnswer: 'an answer is slow',
  requestLost: 'a request is lost',
  responseLost: 'an answer is lost after the write landed',
  late: 'a write lands late',
  duplicate: 'a copy of a write lands later',
  doubled: 'a proxy sends a write twice at once',
  retried: 'a proxy sends a write again',
  throttled: 'the store says SlowDown',
  errorAfter: '500 after the write landed',
  refused: '409 for a write that never was',
  skewed: 'RequestTimeTooSkewed',
  readFailed: 'a read fails',
  pageFailed: 'a page cannot be read for a while',
  bodyFailed: 'a segment cannot be read for a while',
  stalledBody: 'a body stalls until the timeout',
  down: 'the store cannot be reached',
  denied: 'the store says 403 for a while',
} as const satisfies Partial<Record<keyof FaultRates | 'down' | 'denied', string>>;

const lateWrites = {
  putIfAbsent: 'a create lands late',
  putIfMatch: 'a swap lands late',
  put: 'an upload lands late',
  delete: 'a delete lands late',
} as const;

const others = [
  'the Date of an answer lies',
  'an answer has an Age and so no clock',
  'Last-Modified lies',
  '412 for what one itself has written',
  'the store is slow for a while',
  'a node is cut off from the store',
  'the store is away for more than a minute',
  'a process is killed',
  'a process is paused',
  'a process is paused for more than 30 s',
  'a machine sleeps',
  'a machine sleeps for more than 30 s',
  'a process is paused between apply and swap for longer than the retention',
  'a wall clock steps',
  'a client hangs up in a long poll',
  'the answer to a client is lost',
  'a lease is given back',
  'create: killed before its write',
  'create: killed with its write under way',
  'create: killed after its write landed',
  'delete: killed before its write',
  'delete: killed with its write under way',
  'delete: killed after its write landed',
  'a queue with messages is deleted',
  'a name is created again',
  'a purge lands while a send waits',
  'a purge lands while a receive waits',
  'attributes change behind the back of a node',
  'a stale node is asked about a handle of another',
  'two nodes move the same dead letters',
  'the source of a move is deleted and created again in the middle',
  'the target of a move is deleted and created again in the middle',
  'a letter returns from a target that is gone',
  'an upload lands below collectedBelow',
  'the tail is spilled',
  'a segment of large messages is named',
  'a compaction landed',
  'a compaction was superseded',
  'a sparse segment was rewritten',
  'a segment is collected',
  'a page of delayed messages is written',
  'a page of delayed messages comes back',
  'a page of deliveries is written',
  'a delivery leaves its page',
  'what has left a page is told by ranges',
  'a page of deliveries goes',
  'a page of ready ranges is written',
  'a page of ready ranges comes back',
  'a page of ready ranges ends unread',
  'a page of segments is written',
  'a page of segments comes back',
  'a page of segments ends whole',
  'a page is collected',
  'a tombstone is removed',
  'retention ends a message',
  'a far writer asks for a turn',
  'a receive takes several messages of a group',
  'a group is locked on another node',
  'a group is locked in a page',
  'a group is locked by a letter on its way',
  'a group is unlocked by expiry',
  'a handle of a FIFO queue has expired',
  'a duplicate is answered',
  'a duplicate of what another node accepted',
  'a duplicate of a message that is gone',
  'a duplicate is found in a page',
  'a page of deduplication ids is written',
  'a page of deduplication ids is over',
  'a purge drops a page of deduplication ids',
  'a move task has moved all it could',
  'a move task is taken over by another node',
  'a move task is cancelled with messages on their way',
  'a move task fails since a queue is gone',
  'a message of a move task returns from a target that is gone',
] as const;

export type ReachedKind =
  | (typeof fates)[keyof typeof fates]
  | (typeof lateWrites)[keyof typeof lateWrites]
  | (typeof others)[number];

export const reachedKinds: readonly ReachedKind[] = [
  ...Object.values(fates),
  ...Object.values(lateWrites),
  ...others,
];

export class Reached {
  readonly counts = new Map<ReachedKind, number>();

  note(kind: ReachedKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  paused(millis: number, asleep: boolean): void {
    this.note(asleep ? 'a machine sleeps' : 'a process is paused');
    if (millis <= 30_000) return;
    this.note(asleep ? 'a machine sleeps for more than 30 s' : 'a process is paused for more than 30 s');
  }

  /** A request and what became of it. */
  request(method: string, fate: string): void {
    if (fate === 'plain') return;
    this.note(fates[fate as keyof typeof fates]);
    const late = fate === 'late' && lateWrites[method as keyof typeof lateWrites];
    if (late) this.note(late);
  }
}
