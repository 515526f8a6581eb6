/**
 * What the bodies of all requests of a listener hold at one time. The first bytes of each body count against one bound
 * and what goes beyond against another (limits.ts says why), so that large bodies never take the room of small ones.
 */
import { LARGE_BODIES_BYTES_MAX, SMALL_BODIES_BYTES_MAX, SMALL_BODY_BYTES } from './limits.ts';

export interface BodyBounds {
  /** How much of each body is small. */
  readonly smallBytes: number;
  readonly allSmallBytesMax: number;
  readonly allLargeBytesMax: number;
}

export const BODY_BOUNDS: BodyBounds = {
  smallBytes: SMALL_BODY_BYTES,
  allSmallBytesMax: SMALL_BODIES_BYTES_MAX,
  allLargeBytesMax: LARGE_BODIES_BYTES_MAX,
};

/** One body's part. It takes all of what it is to grow by, or nothing. */
export interface HeldBody {
  /** Whether there was room. */
  grow(bytes: number): boolean;
  /** All of it; a second time does nothing. */
  giveBack(): void;
}

export class BodyBudget {
  readonly #bounds: BodyBounds;
  #small = 0;
  #large = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  hold(): HeldBody {
    let held = 0;
    return {
      grow: (bytes) => {
        if (!this.#move(held, held + bytes)) return false;
        held += bytes;
        return true;
      },
      giveBack: () => {
        this.#move(held, 0);
        held = 0;
      },
    };
  }

  /** One body's length changes; refused only when it grows. */
  #move(from: number, to: number): boolean {
    const { smallBytes, allSmallBytesMax, allLargeBytesMax } = this.#bounds;
    const small = this.#small + Math.min(to, smallBytes) - Math.min(from, smallBytes);
    const large = this.#large + Math.max(0, to - smallBytes) - Math.max(0, from - smallBytes);
    if (to > from && (small > allSmallBytesMax || large > allLargeBytesMax)) return false;
    this.#small = small;
    this.#large = large;
    return true;
  }
}
