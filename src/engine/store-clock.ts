/**
 * Bounds of the store's time, learned from its responses (DESIGN.md section 7). Pure: fed with numbers, it reads no
 * clock.
 *
 * One response says that the store's time lay in [millis, millis + resolution) at some instant of its flight, which
 * bounds the offset (store time - local monotonic time) from both sides. Bounds of later responses are intersected, so
 * whole seconds from S3 narrow to about a round trip; between responses the bounds widen by what clocks may drift.
 *
 * - Lower bound (destroys): extrapolated by the monotonic clock alone. If that clock stopped while the machine slept,
 *   the bound is too low, which only keeps too long.
 * - Upper bound (starts a life: enqueue and deduplication stamps): extrapolated by the larger of monotonic and wall
 *   clock, because an upper bound that slept would stamp a message too early and shorten its life.
 * - A response that contradicts the bounds replaces them, since either may be the wrong one, and the bounds count as
 *   unconfirmed until a response a minute later agrees: a store that lies once, or a step of the clock of a local
 *   store, destroys nothing. Until then the upper bound also covers what was displaced.
 * - A response that a sleep explains joins the bounds, widened by it; they count as unconfirmed again, for a wall clock that
 *   was set looks the same, and the upper bound covers all that the sleep may have been.
 */
import type { StoreTime } from '../store/object-store.ts';

/** Quartz is good to 50 ppm and NTP slews by at most 500 ppm: nothing honest drifts faster. */
export const driftPerMillisecond = 500e-6;

/**
 * A second response must be at least this much younger. A wrong clock behind a load balancer or a response held back
 * by a cache gives way within seconds; a minute is also the shortest retention.
 */
export const confirmationMillis = 60_000;

/** A wall clock this far outside the bounds is worth telling its owner; less is ordinary NTP and round trips. */
export const wallSkewToleratedMillis = 1000;

export interface StoreTimeObservation {
  /** Local monotonic and wall clock as the request was sent and as its response was received. */
  readonly sentMonotonic: number;
  readonly receivedMonotonic: number;
  readonly sentWall: number;
  readonly receivedWall: number;
  readonly time: StoreTime;
}

export interface StoreTimeReading {
  /** The store's time is at least this; whole milliseconds since the epoch. */
  readonly lowerMillis: number;
  /** The store's time is at most this. */
  readonly upperMillis: number;
  /**
   * The wall clock while it is no more than `wallSkewToleratedMillis` outside the bounds, else clamped into them; good
   * enough where an error only redelivers (visibility). Machines kept by NTP agree better than whole seconds of a `Date`
   * header that some servers renew but once a second: clamped to such bounds, a lease ended up to a second early.
   */
  readonly nowMillis: number;
  readonly confirmed: boolean;
  /** How far the wall clock is outside the bounds: positive ahead, negative behind, 0 within. */
  readonly wallSkewMillis: number;
  /** More than `wallSkewToleratedMillis`: the node should say so. */
  readonly wallIsOff: boolean;
}

/** Offsets from the local monotonic clock, as they were at the instant `monotonic` / `wall`. */
interface Bounds {
  readonly lowerOffset: number;
  readonly upperOffset: number;
  readonly monotonic: number;
  readonly wall: number;
}

export class StoreClock {
  #bounds: Bounds | undefined;
  /** Monotonic instant at which the response that established the present bounds had been received. */
  #establishedAt = 0;
  #confirmed = false;
  /** The last confirmed bounds, while their successors are not confirmed: one lying response must hide no message. */
  #trusted: Bounds | undefined;
  /** Upper offset of bounds displaced since the last confirmation, as of the present bounds' instant. */
  #displacedUpperOffset = Number.NEGATIVE_INFINITY;

  observe(observation: StoreTimeObservation): void {
    const seen = boundsOf(observation);
    const known = this.#bounds;
    if (known === undefined) {
      this.#establish(seen, observation.receivedMonotonic);
      return;
    }
    // Responses may be reported out of order: bring both to the later instant.
    const latest = seen.monotonic >= known.monotonic ? seen : known;
    const before = widened(known, latest.monotonic);
    const now = widened(seen, latest.monotonic);
    // What the wall clock says the monotonic one slept may belong to the offset, so it must not cut an upper bound.
    const slept = sleptMillis(known, latest.monotonic, latest.wall);
    const beforeUpper = before.upper + slept;
    const nowUpper = now.upper + sleptMillis(seen, latest.monotonic, latest.wall);
    this.#displacedUpperOffset += slept + driftMillis(known, latest.monotonic);
    if (now.lower > beforeUpper || nowUpper < before.lower) {
      if (this.#confirmed) this.#trusted = known;
      this.#displacedUpperOffset = Math.max(this.#displacedUpperOffset, beforeUpper);
      this.#establish(seen, observation.receivedMonotonic);
      return;
    }
    this.#bounds = {
      lowerOffset: Math.max(before.lower, now.lower),
      upperOffset: Math.min(beforeUpper, nowUpper),
      monotonic: latest.monotonic,
      wall: latest.wall,
    };
    if (slept > wallSkewToleratedMillis + driftMillis(known, latest.monotonic)) {
      // It slept, or its wall clock was set: one response may be a lie within what that explains.
      this.#displacedUpperOffset = Math.max(this.#displacedUpperOffset, beforeUpper);
      this.#establishedAt = observation.receivedMonotonic;
      this.#confirmed = false;
    }
    if (!this.#confirmed && observation.sentMonotonic - this.#establishedAt >= confirmationMillis) {
      this.#confirmed = true;
      this.#trusted = undefined;
      this.#displacedUpperOffset = Number.NEGATIVE_INFINITY;
    }
  }

  /** `undefined` before the first observation. */
  read(monotonicNow: number, wallNow: number): StoreTimeReading | undefined {
    const bounds = this.#bounds;
    if (bounds === undefined) return undefined;
    const { lower, upper } = widened(bounds, monotonicNow);
    const displaced = this.#displacedUpperOffset + driftMillis(bounds, monotonicNow);
    const upperOffset = Math.max(upper, displaced) + sleptMillis(bounds, monotonicNow, wallNow);
    const lowerMillis = Math.floor(monotonicNow + lower);
    const upperMillis = Math.ceil(monotonicNow + upperOffset);
    const wallMillis = Math.floor(wallNow);
    const clampedMillis = this.#clamp(bounds, monotonicNow, wallNow);
    const wallSkewMillis = wallMillis - clampedMillis;
    const wallIsOff = Math.abs(wallSkewMillis) > wallSkewToleratedMillis;
    const nowMillis = wallIsOff ? clampedMillis : wallMillis;
    return { lowerMillis, upperMillis, nowMillis, confirmed: this.#confirmed, wallSkewMillis, wallIsOff };
  }

  #clamp(bounds: Bounds, monotonicNow: number, wallNow: number): number {
    const trusted = this.#trusted ?? bounds;
    const { lower, upper } = widened(trusted, monotonicNow);
    const lowest = Math.floor(monotonicNow + lower);
    const highest = Math.ceil(monotonicNow + upper + sleptMillis(trusted, monotonicNow, wallNow));
    return Math.min(Math.max(Math.floor(wallNow), lowest), highest);
  }

  #establish(bounds: Bounds, receivedMonotonic: number): void {
    this.#bounds = bounds;
    this.#establishedAt = receivedMonotonic;
    this.#confirmed = false;
  }
}

function boundsOf({
  sentMonotonic,
  receivedMonotonic,
  sentWall,
  receivedWall,
  time,
}: StoreTimeObservation): Bounds {
  // The machine may have slept during the flight: the store may have spoken before that.
  const seenMillis = Math.max(0, receivedMonotonic - sentMonotonic, receivedWall - sentWall);
  // A clock that runs slow has seen less of a long flight than there was.
  const flightMillis = seenMillis * (1 + driftPerMillisecond);
  return {
    lowerOffset: time.millis - receivedMonotonic,
    upperOffset: time.millis + time.resolutionMillis + flightMillis - receivedMonotonic,
    monotonic: receivedMonotonic,
    wall: receivedWall,
  };
}

function widened(bounds: Bounds, monotonic: number): { readonly lower: number; readonly upper: number } {
  const drift = driftMillis(bounds, monotonic);
  return { lower: bounds.lowerOffset - drift, upper: bounds.upperOffset + drift };
}

function driftMillis(bounds: Bounds, monotonic: number): number {
  return Math.abs(monotonic - bounds.monotonic) * driftPerMillisecond;
}

/**
 * By how much more the wall clock moved than the monotonic one since the bounds were taken, never negative: a wall clock
 * that runs slow has seen less of it than there was.
 */
function sleptMillis(bounds: Bounds, monotonic: number, wall: number): number {
  const seen = Math.max(0, wall - bounds.wall - Math.max(0, monotonic - bounds.monotonic));
  return seen * (1 + driftPerMillisecond);
}
