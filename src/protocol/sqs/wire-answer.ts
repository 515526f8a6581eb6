/** An answer as a protocol words it, before anything knows of sockets. */
import type { Refusal } from './errors.ts';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a refusal adds to the headers in every protocol. */
export function retryAfter(refused: Refusal): Readonly<Record<string, string>> {
  return refused.retryAfterSeconds === undefined
    ? {}
    : { 'retry-after': String(Math.max(1, Math.ceil(refused.retryAfterSeconds))) };
}
