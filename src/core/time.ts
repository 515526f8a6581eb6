/**
 * Manifest time: the queue's own clock, stored in the manifest and moved by every commit. What destroys (retention)
 * compares with it, so it may lag behind the store's time but must never run ahead of it.
 *
 * - It never goes backwards: what expired stays expired on every node.
 * - A store (or a proxy before it) that tells a wrong time once can't move it far: unless the bound was confirmed by a
 *   second response a minute later, it moves with the node's own monotonic clock (engine/store-clock.ts).
 */

export const millisPerSecond = 1000;

/**
 * How far manifest time may move, beyond what this loop saw pass, on the word of an unconfirmed bound. It must cover
 * what honestly lies between the last commit of another node and our first sight of it (a request's flight, whole
 * seconds in `Date`), and it must be far below the shortest retention (60 s), so that a lie expires next to nothing.
 */
export const unconfirmedAdvanceMillisMax = 5000;

export interface ManifestTimeAdvance {
  /** Manifest time of the state the commit is based on. */
  readonly manifestMillis: number;
  /** Lower bound of the store's time now. */
  readonly lowerMillis: number;
  /** Whether that bound was confirmed. */
  readonly confirmed: boolean;
  /** Manifest time as this commit loop first observed it. */
  readonly anchorMillis: number;
  /** Monotonic milliseconds since that observation. */
  readonly elapsedSinceAnchorMillis: number;
}

/** Manifest time of the next commit, whole milliseconds. */
export function advanceManifestTime(advance: ManifestTimeAdvance): number {
  const { manifestMillis, lowerMillis, confirmed, anchorMillis, elapsedSinceAnchorMillis } = advance;
  const reachableMillis = anchorMillis + elapsedSinceAnchorMillis + unconfirmedAdvanceMillisMax;
  const trustedMillis = confirmed ? lowerMillis : Math.min(lowerMillis, reachableMillis);
  return Math.max(manifestMillis, Math.floor(trustedMillis));
}
