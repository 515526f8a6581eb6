/**
 * Reading a request body under bounds. A body over the bound is read to its end and thrown away before it is
 * answered: an answer sent earlier is lost to the reset that follows when a socket closes with unread bytes.
 */
import type { IncomingMessage } from 'node:http';
import type { HeldBody } from './body-budget.ts';

/** Past this the client gets its answer at once, and perhaps only a reset. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;

export type BodyOutcome =
  | { readonly kind: 'done'; readonly body: Uint8Array }
  | { readonly kind: 'too-large' }
  /** All the bodies this node holds together leave no room. */
  | { readonly kind: 'overloaded' }
  /** The connection ended, or the framing broke, inside the body. */
  | { readonly kind: 'cut-off' };

/** After `done` the body is still held: giving it back is the caller's. */
export function readBody(
  request: IncomingMessage,
  maximumBytes: number,
  held: HeldBody,
): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    let chunks: Uint8Array[] = [];
    let bytes = 0;
    let settled = false;
    let refused: 'too-large' | 'overloaded' | undefined;

    function settle(outcome: BodyOutcome): void {
      // 'close' comes also after 'end'.
      if (settled) return;
      settled = true;
      if (outcome.kind !== 'done') held.giveBack();
      chunks = [];
      resolve(outcome);
    }

    function refuse(kind: 'too-large' | 'overloaded'): void {
      refused = kind;
      held.giveBack();
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
      else if (held.grow(chunk.length)) chunks.push(chunk);
      else refuse('overloaded');
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
