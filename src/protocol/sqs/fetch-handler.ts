/** The surface as a `fetch` handler, for whatever speaks web standards. Runtimes with a cheaper way use the core itself. */
import {
  bodyTooLarge,
  HTTP_BODY_BYTES_MAX,
  type RequestHead,
  refusedByHead,
  type SqsHandler,
  type SqsResponse,
} from './handler.ts';

/** Undefined when the body is larger than we take. */
async function readBody(request: Request): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of request.body) {
    total += chunk.length;
    if (total > HTTP_BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  const body = new Uint8Array(total);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

/**
 * A stream that tells when it is thrown away before its only chunk was taken: then nobody has the messages. It holds
 * nothing back (`highWaterMark` 0) and ends with the chunk, so `cancel` is never called once the chunk was read.
 */
function streamOf(answer: SqsResponse, undelivered: () => Promise<void>): ReadableStream<Uint8Array> {
  const bytes = typeof answer.body === 'string' ? new TextEncoder().encode(answer.body) : answer.body;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
      cancel() {
        return undelivered();
      },
    },
    { highWaterMark: 0 },
  );
}

function toResponse(answer: SqsResponse, signal: AbortSignal): Response {
  const { status, headers, undelivered } = answer;
  if (undelivered === undefined) return new Response(answer.body as BodyInit, { status, headers });
  if (signal.aborted) {
    void undelivered();
    return new Response(null, { status, headers });
  }
  return new Response(streamOf(answer, undelivered), { status, headers });
}

export function createFetchHandler(
  handler: SqsHandler,
  requestId: () => string,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    let body: Uint8Array | undefined;
    try {
      body = await readBody(request);
    } catch {
      // The client has gone in the middle of its body; whoever made the request throws this answer away.
      return new Response(null, { status: 400 });
    }
    const head: RequestHead = {
      method: request.method,
      target: url.pathname + url.search,
      headers: headersOf(request, url),
      secure: url.protocol === 'https:',
    };
    if (body === undefined) {
      return toResponse(refusedByHead(head, bodyTooLarge(), requestId()), request.signal);
    }
    const answer = await handler({ ...head, body, signal: request.signal });
    return toResponse(answer, request.signal);
  };
}

/** Some runtimes keep Host out of `headers`; the URL has it then. */
function headersOf(request: Request, url: URL): readonly (readonly [string, string])[] {
  const headers = [...request.headers];
  return request.headers.has('host') ? headers : [...headers, ['host', url.host] as const];
}
