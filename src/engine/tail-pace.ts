/**
 * How much of the inline tail the pace of commits allows. Each commit writes the whole tail again: on a store that takes
 * a commit each millisecond, a tail of 256 KiB would have a disk write hundreds of megabytes a second for a few
 * messages. So the tail shrinks as commits come faster than 32 a second, and what rewriting it costs stays under
 * 32 full tails a second, 8 MiB/s (DESIGN.md section 4). Bodies then leave for segments sooner, each written once. On S3 a
 * commit takes longer than that by itself.
 */
import type { QueueLimits } from '../core/limits.ts';

const fullTailsPerSecond = 32;
/** However fast: at 1,000 commits a second. A few messages of the usual size still share a segment. */
const leastShare = 1 / 32;
/** The pace is that of so many commits, whoever's. */
const samplesMax = 32;

interface Sample {
  readonly version: number;
  /** Monotonic. */
  readonly at: number;
}

export class TailPace {
  readonly #samples: Sample[] = [];

  /** A version was seen, later than those before. */
  sample(version: number, monotonicMillis: number): void {
    if (this.#samples.at(-1)?.version === version) return;
    this.#samples.push({ version, at: monotonicMillis });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  bounded(limits: QueueLimits, monotonicMillis: number): QueueLimits {
    const share = this.#share(monotonicMillis);
    return share < 1 ? { ...limits, tailBytesMax: Math.ceil(share * limits.tailBytesMax) } : limits;
  }

  #share(now: number): number {
    if (this.#samples.length < samplesMax) return 1;
    const first = this.#samples[0]!;
    const commits = this.#samples.at(-1)!.version - first.version;
    const seconds = (now - first.at) / 1000;
    return Math.min(1, Math.max(leastShare, (fullTailsPerSecond * seconds) / commits));
  }
}
