/** How the fault proxy reads messages whole, and gives answers: whole, in part, not at all. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pause } from './okuri-process.ts';
import type { StoreRequest } from './store-faults.ts';

export interface StoreAnswer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** Longer than any client should wait for one answer. */
const holdMillis = 15_000;

export async function received(incoming: IncomingMessage): Promise<StoreRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', rawHeaders } = incoming;
  return { method, path, rawHeaders, body: Buffer.concat(chunks) };
}

export function give(outgoing: ServerResponse, answer: StoreAnswer | undefined): void {
  if (answer === undefined) breakOff(outgoing);
  else {
    head(outgoing, answer);
    outgoing.end(answer.body);
  }
}

/** The body has come whole, so what describes how it came does not hold any more. */
function head(outgoing: ServerResponse, { status, rawHeaders, body }: StoreAnswer): void {
  const headers: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (/^(transfer-encoding|connection|keep-alive)$/i.test(name)) continue;
    if (/^content-length$/i.test(name) && body.length > 0) continue;
    headers.push(name, rawHeaders[index + 1] as string);
  }
  if (body.length > 0) headers.push('Content-Length', `${body.length}`);
  outgoing.writeHead(status, headers);
}

export async function stall(outgoing: ServerResponse, answer: StoreAnswer | undefined): Promise<void> {
  if (answer !== undefined && answer.body.length > 1) {
    head(outgoing, answer);
    outgoing.write(answer.body.subarray(0, answer.body.length / 2));
  }
  await hold(outgoing);
}

/** Says nothing until the client gives up, or for longer than it should wait. */
export async function hold(outgoing: ServerResponse): Promise<void> {
  const gone = new Promise<void>((resolve) => outgoing.once('close', () => resolve()));
  await Promise.race([gone, pause(holdMillis)]);
  breakOff(outgoing);
}

export function breakOff(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}
