/**
 * Why the store fails, told to whoever reads the log; clients are told no more than 503.
 *
 * - A reason is said at its first failure, then at most once a minute, with how often it came meanwhile. Reasons are
 *   compared without the keys, paths and request ids in them, and only a few are told apart: a store that words every
 *   failure differently can't fill the log.
 * - One line says when it is over: nothing has failed for a while. Not at the first answer, because a store that fails
 *   every tenth request would then be over and back all the time.
 */
import type { Clock, Log } from '../engine/environment.ts';
import { STORE_QUIET_AFTER_MILLIS } from './limits.ts';

const SAID_EVERY_MILLIS = 60_000;
/** Of all the ways to fail, an outage shows a handful: refused, reset, timed out, each for reads and writes. */
const REASONS_MAX = 16;
const ANY_OTHER = 'other';

interface Reason {
  saidAtMillis: number;
  unsaid: number;
}

export class StoreFailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #reasons = new Map<string, Reason>();
  /** Since when, how often and until when the store has failed; undefined when it doesn't. */
  #spell: { readonly beganMillis: number; lastMillis: number; failures: number; said: boolean } | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  failed(operation: string, error: string): void {
    const now = this.#clock.monotonicMillis();
    this.#spell ??= { beganMillis: now, lastMillis: now, failures: 0, said: false };
    this.#spell.lastMillis = now;
    this.#spell.failures += 1;
    const reason = this.#reasonOf(`${operation} ${withoutNames(error)}`, now);
    reason.unsaid += 1;
    if (now - reason.saidAtMillis < SAID_EVERY_MILLIS) return;
    this.#log.warn('The store fails', { operation, error, failures: reason.unsaid });
    reason.saidAtMillis = now;
    reason.unsaid = 0;
    this.#spell.said = true;
  }

  /** Whenever nothing fails at present. */
  answers(): void {
    const spell = this.#spell;
    if (spell === undefined) return;
    if (this.#clock.monotonicMillis() - spell.lastMillis < STORE_QUIET_AFTER_MILLIS) return;
    this.#spell = undefined;
    if (!spell.said) return;
    const seconds = Math.round((spell.lastMillis - spell.beganMillis) / 1_000);
    this.#log.info('The store answers again', { failures: spell.failures, failedForSeconds: seconds });
  }

  #reasonOf(name: string, now: number): Reason {
    const known = this.#reasons.get(name);
    if (known !== undefined) return known;
    for (const [each, { saidAtMillis }] of this.#reasons) {
      if (now - saidAtMillis >= SAID_EVERY_MILLIS) this.#reasons.delete(each);
    }
    if (this.#reasons.size >= REASONS_MAX && name !== ANY_OTHER) return this.#reasonOf(ANY_OTHER, now);
    const reason: Reason = { saidAtMillis: Number.NEGATIVE_INFINITY, unsaid: 0 };
    this.#reasons.set(name, reason);
    return reason;
  }
}

/** Status codes stay; paths, keys, ids and times go. */
function withoutNames(error: string): string {
  return error
    .split(/\s+/)
    .map((word) => (word.includes('/') || (word.length >= 8 && /\d/.test(word)) ? '…' : word))
    .join(' ');
}
