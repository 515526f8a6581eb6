/**
 * What the model knows of message groups in a standard queue: who has sent how much, whose messages wait, whose turn it is
 * (docs/design/0009-fair-queues.md). Of few groups and few messages: what is bounded in the product never is here.
 */
import { BUSY_COUNT_MIN, QUIET_IN_A_ROW_MAX, QUIET_PART } from '../../src/core/limits.ts';
import type { ModelMessage } from './model-message.ts';

const minuteMillis = 60_000;
/** A clock so far back sets the pace anew. */
const backMinutes = 5;

export class ModelFairness {
  sent = new Map<string, number>();
  peaks = new Map<string, number>();
  minute = 0;
  busyBelow = 0;
  inARow = 0;

  clone(): ModelFairness {
    return Object.assign(new ModelFairness(), {
      ...this,
      sent: new Map(this.sent),
      peaks: new Map(this.peaks),
    });
  }

  pass(now: number): void {
    const minute = Math.floor(now / minuteMillis);
    for (; this.minute < minute && this.sent.size > 0; this.minute++)
      for (const [group, count] of this.sent)
        if (count < 2) this.sent.delete(group);
        else this.sent.set(group, Math.floor(count / 2));
    if (this.minute < minute || this.minute > minute + backMinutes) this.minute = minute;
  }

  /** All that one transition sends, in order. */
  judge(born: readonly ModelMessage[]): void {
    if (this.busyBelow === 0 && born.every(({ group }) => group === undefined)) return;
    for (const { group } of born)
      if (group !== undefined) this.sent.set(group, (this.sent.get(group) ?? 0) + 1);
    const weight = (group: string | undefined) =>
      group === undefined ? 1 : Math.max(this.sent.get(group) ?? 0, this.peaks.get(group) ?? 0);
    const busiest = Math.max(
      ...this.peaks.values(),
      ...born.map(({ group }) => (group === undefined ? 0 : weight(group))),
    );
    if (busiest < BUSY_COUNT_MIN) return;
    const waiting = new Set<string>();
    for (const message of born) {
      message.quiet = weight(message.group) < busiest * QUIET_PART;
      if (message.quiet || message.group === undefined || weight(message.group) < BUSY_COUNT_MIN) continue;
      waiting.add(message.group);
      this.busyBelow = message.sequence + 1;
    }
    for (const group of waiting) this.peaks.set(group, weight(group));
  }

  /** At the end of a transition. */
  settle(messages: readonly ModelMessage[]): void {
    const isWaiting = ({ place }: ModelMessage) => place.kind === 'ready' || place.kind === 'delayed';
    const busy = messages.some((m) => isWaiting(m) && !m.quiet && m.sequence < this.busyBelow);
    if (!busy) {
      this.busyBelow = 0;
      this.peaks.clear();
    }
    for (const message of messages) message.quiet &&= busy && isWaiting(message);
    if (this.sent.size + this.peaks.size > 0) return;
    this.minute = 0;
    this.inARow = 0;
  }

  /** The never received that are visible, in the order of their turns. */
  *inTurn(
    ready: readonly ModelMessage[],
    due: readonly ModelMessage[],
  ): Generator<ModelMessage, void, undefined> {
    const left = new Set([...ready, ...due].sort((a, b) => a.sequence - b.sequence));
    for (;;) {
      const quiet = [...left].find((message) => message.quiet);
      const oldest = [...left].find(({ place }) => place.kind === 'ready');
      if (quiet && this.inARow < QUIET_IN_A_ROW_MAX) this.inARow++;
      else this.inARow = 0;
      const next = this.inARow > 0 ? quiet : (oldest ?? quiet);
      if (!next) return;
      left.delete(next);
      yield next;
    }
  }
}
