/**
 * Talks to the SQS handler in process, as a client would: signs with the SDK's own signer, an independent
 * implementation, and reads back status, headers and JSON.
 */

import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { QueueService } from '../../src/engine/queue-api.ts';
import {
  createSqsHandler,
  type SqsHandler,
  type SqsHandlerOptions,
  type SqsResponse,
} from '../../src/protocol/sqs/handler.ts';
import { webCryptoDigests } from '../../src/protocol/sqs/web-crypto-digest.ts';

export const NOW_MILLIS = Date.UTC(2026, 7, 30, 12, 36, 0);
export const ACCESS_KEY_ID = 'AKIDTEST';
export const SECRET = 'b2t1cmkvdGVzdCtzZWNyZXQ=';
export const HOST = 'localhost:8080';

/** The hash class the SDK's signer wants, on node:crypto and not on our own digests. */
export class NodeSha256 {
  readonly #hash: { update(data: Uint8Array): unknown; digest(): Uint8Array };

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    throw new Error('not used by the signer');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}

export function signer(
  options: { readonly region?: string; readonly token?: string; readonly secret?: string } = {},
) {
  return new SignatureV4({
    credentials: {
      accessKeyId: ACCESS_KEY_ID,
      secretAccessKey: options.secret ?? SECRET,
      ...(options.token === undefined ? {} : { sessionToken: options.token }),
    },
    region: options.region ?? 'us-east-1',
    service: 'sqs',
    sha256: NodeSha256,
    // The SDK's SQS client leaves x-amz-content-sha256 out.
    applyChecksum: false,
  });
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly raw: SqsResponse;
}

export interface SqsTestClient {
  call(action: string, body: unknown, options?: CallOptions): Promise<Reply>;
  /** A presigned POST of that action, sent with the given headers besides Host. */
  callPresigned(action: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** For requests of another form than those of `call`. */
  readonly handler: SqsHandler;
  /** Every unexpected failure the handler told its log. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

export interface CallOptions {
  readonly path?: string;
  readonly signal?: AbortSignal;
  readonly host?: string;
  readonly target?: string;
  /** Sent, but not signed. */
  readonly unsigned?: Readonly<Record<string, string>>;
}

export function sqsTestClient(
  service: QueueService,
  overrides: Partial<SqsHandlerOptions> = {},
): SqsTestClient {
  const logged: Record<string, unknown>[] = [];
  let serial = 0;
  const handler = createSqsHandler({
    service,
    credentialOf: (id) => (id === ACCESS_KEY_ID ? { secretAccessKey: SECRET } : undefined),
    digests: webCryptoDigests,
    accountId: '000000000000',
    region: 'us-east-1',
    trustProxy: false,
    nowMillis: () => NOW_MILLIS,
    requestId: () => {
      serial += 1;
      return `request-${serial}`;
    },
    log: (message, fields) => logged.push({ message, ...fields }),
    ...overrides,
  });
  const call = async (action: string, body: unknown, options: CallOptions = {}): Promise<Reply> => {
    const text = typeof body === 'string' ? body : body instanceof Uint8Array ? body : JSON.stringify(body);
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const host = options.host ?? HOST;
    const signed = await signer().sign(
      {
        method: 'POST',
        protocol: 'http:',
        hostname: host,
        path: options.path ?? '/',
        query: {},
        headers: {
          host,
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': options.target ?? `AmazonSQS.${action}`,
        },
        body: bytes,
      },
      { signingDate: new Date(NOW_MILLIS) },
    );
    const raw = await handler({
      method: 'POST',
      target: options.path ?? '/',
      headers: Object.entries({ ...signed.headers, ...options.unsigned }).map(
        ([name, value]) => [name.toLowerCase(), value] as const,
      ),
      body: bytes,
      signal: options.signal ?? new AbortController().signal,
    });
    return { status: raw.status, headers: raw.headers, body: JSON.parse(String(raw.body)), raw };
  };
  const callPresigned: SqsTestClient['callPresigned'] = async (action, body, headers = {}) => {
    const text = JSON.stringify(body);
    const presigned = await signer().presign(
      {
        method: 'POST',
        protocol: 'http:',
        hostname: HOST,
        path: '/',
        query: {},
        headers: { host: HOST, 'x-amz-target': `AmazonSQS.${action}` },
        body: text,
      },
      { signingDate: new Date(NOW_MILLIS), expiresIn: 60 },
    );
    const query = Object.entries(presigned.query ?? {})
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join('&');
    const raw = await handler({
      method: 'POST',
      target: `/?${query}`,
      headers: [['host', HOST], ...Object.entries(headers)],
      body: new TextEncoder().encode(text),
      signal: new AbortController().signal,
    });
    return { status: raw.status, headers: raw.headers, body: JSON.parse(String(raw.body)), raw };
  };
  return { call, callPresigned, handler, logged };
}
