/**
 * The world behind one record (DESIGN.md section 8): everything the engine takes from outside goes through here, so
 * that a simulation can hand in a virtual clock, seeded randomness and a faulty store. The engine and the core call
 * no timer, clock, random source, `fetch` or Web Crypto of their own.
 */
import type { ObjectStore } from '../store/object-store.ts';

export interface Clock {
  /** The local wall clock, milliseconds since the Unix epoch. May lie, step and drift; nothing safe rests on it. */
  wallMillis(): number;
  /** Milliseconds from an arbitrary start; never goes backwards. May have fractions. */
  monotonicMillis(): number;
  /** Resolves after the given time, or at once when `signal` fires (it never rejects). Must not keep the process alive. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** Cryptographically strong bytes (in production). */
  bytes(count: number): Uint8Array;
  /** Uniform in [0, 1). */
  unit(): number;
}

/** Structured log lines. Implementations never print secrets: the engine passes names, versions and counts only. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: ObjectStore;
  readonly log: Log;
}
