/**
 * Reading a request body under bounds. A body over the bound is read to its end and thrown away before it is
 * answered: an answer sent earlier is lost to the reset that follows when a socket closes with unread bytes.
 */
import type { IncomingMessage } from 'node:http';

/** Past this the client gets its answer at once, and perhaps only a reset. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;

export type BodyOutcome =
  | { readonly kind: 'done'; readonly body: Uint8Array }
  | { readonly kind: 'too-large' }
  /** All the bodies this node holds together leave no room. */
  | { readonly kind: 'overloaded' }
  /** The connection ended, or the framing broke, inside the body. */
  | { readonly kind: 'cut-off' };

/** Bytes of all bodies held at one time, shared by all the requests of a listener. */
export class BodyBudget {
  readonly #maximumBytes: number;
  #held = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#maximumBytes) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

/** A `done` body is still held in the budget: whoever gets it gives back its length. */
export function readBody(
  request: IncomingMessage,
  maximumBytes: number,
  budget: BodyBudget,
): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    let chunks: Uint8Array[] = [];
    let bytes = 0;
    let held = 0;
    let refused: 'too-large' | 'overloaded' | undefined;

    function settle(outcome: BodyOutcome): void {
      if (outcome.kind !== 'done') budget.giveBack(held);
      held = 0;
      chunks = [];
      resolve(outcome);
    }

    function refuse(kind: 'too-large' | 'overloaded'): void {
      refused = kind;
      budget.giveBack(held);
      held = 0;
      chunks = [];
    }

    if (Number(request.headers['content-length'] ?? 0) > maximumBytes) refuse('too-large');
    request.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (refused !== undefined) {
        if (bytes > DISCARDED_BYTES_MAX) settle({ kind: refused });
        return;
      }
      if (bytes > maximumBytes) refuse('too-large');
      else if (!budget.take(chunk.length)) refuse('overloaded');
      else {
        held += chunk.length;
        chunks.push(chunk);
      }
    });
    request.on('end', () => {
      if (refused !== undefined) settle({ kind: refused });
      else settle({ kind: 'done', body: joined(chunks, bytes) });
    });
    request.on('error', () => settle({ kind: 'cut-off' }));
    request.on('close', () => settle({ kind: 'cut-off' }));
  });
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
