/** Talks the legacy query protocol to the SQS handler in process: forms and URLs in, XML out. */
import type { SqsHandler, SqsResponse } from '../../src/protocol/sqs/handler.ts';
import { HOST, NOW_MILLIS, signer } from './sqs-client.ts';

export type Fields = Readonly<Record<string, string | number>>;

export interface QueryOptions {
  readonly path?: string;
  /** GET puts the fields into the URL. */
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Into the URL, besides a form in the body. */
  readonly url?: Readonly<Record<string, string>>;
  readonly presigned?: boolean;
  readonly body?: string | Uint8Array;
  /** Signed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent, but added after the request was signed. */
  readonly unsigned?: Readonly<Record<string, string>>;
}

export interface XmlReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly xml: string;
  readonly raw: SqsResponse;
}

export function formOf(fields: Fields): string {
  return new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();
}

function text(fields: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

export async function query(
  handler: SqsHandler,
  fields: Fields,
  options: QueryOptions = {},
): Promise<XmlReply> {
  const { method = 'POST', path = '/' } = options;
  const inUrl = method === 'GET';
  const body = options.body ?? (inUrl ? '' : formOf(fields));
  const request = {
    method,
    protocol: 'http:',
    hostname: HOST,
    path,
    query: { ...(inUrl ? text(fields) : {}), ...options.url },
    headers: {
      host: HOST,
      ...(inUrl || options.presigned
        ? {}
        : { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }),
      ...options.headers,
    },
    body,
  };
  const at = { signingDate: new Date(NOW_MILLIS) };
  const signed = options.presigned
    ? await signer().presign(request, { ...at, expiresIn: 60 })
    : await signer().sign(request, at);
  const search = Object.entries(signed.query ?? {})
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  const headers = { ...signed.headers, ...options.unsigned };
  const raw = await handler({
    method,
    target: search === '' ? path : `${path}?${search}`,
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    signal: new AbortController().signal,
  });
  return { status: raw.status, headers: raw.headers, xml: String(raw.body), raw };
}
