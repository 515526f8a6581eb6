/**
 * How long a commit waits for company: the first command after idle starts the linger, a full batch ends it. Crowd
 * linger, pacing and GET-first (DESIGN.md section 3's table) come here.
 */
import type { Clock } from './environment.ts';
import type { PendingCommand } from './pending.ts';
import { batchBytesMax } from './settings.ts';

export class Linger {
  readonly #clock: Clock;
  readonly #lingerMillis: number;
  #cut: AbortController | undefined;

  constructor(clock: Clock, lingerMillis: number) {
    this.#clock = clock;
    this.#lingerMillis = lingerMillis;
  }

  async wait(first: PendingCommand, pendingBytes: () => number): Promise<void> {
    const restMillis = first.arrivedAt + this.#lingerMillis - this.#clock.monotonicMillis();
    if (restMillis <= 0 || pendingBytes() >= batchBytesMax) return;
    this.#cut = new AbortController();
    await this.#clock.sleep(restMillis, this.#cut.signal);
    this.#cut = undefined;
  }

  /** A batch is full, or the process stops. */
  cut(): void {
    this.#cut?.abort();
  }
}
