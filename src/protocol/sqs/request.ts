/**
 * A request as a runtime hands it over, and what the surface reads from its head: path and query, the JSON target, the
 * hosts a client may have signed, and the base of the URLs we return.
 */
import { queryParameters } from './sigv4/canonical-request.ts';
import type { SignedRequest } from './sigv4/verify.ts';

export interface RequestHead {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Lower-case names; a name that came twice is there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether the client's own connection is TLS; absent: it is not. */
  readonly secure?: boolean;
}

export interface SqsRequest extends RequestHead {
  readonly body: Uint8Array;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
}

export interface ParsedRequest extends Omit<SignedRequest, 'body'> {
  /** X-Amz-Target where it counts: see `jsonTargetOf`. */
  readonly jsonTarget: JsonTarget;
  readonly baseUrl: string;
}

/** What X-Amz-Target says in the header and in the query: presigning moves `x-amz-*` headers there. */
export interface JsonTarget {
  readonly header: string | undefined;
  readonly query: string | undefined;
}

/** Whether the URL itself names an action, as the query protocol does; every signature covers the URL. */
export function namesActionInQuery(query: ParsedRequest['query']): boolean {
  return query.some(([name]) => name === 'Action');
}

/**
 * The JSON target of a request. A presigned URL goes from hand to hand, so only what its signature covers counts there:
 * whoever holds one for GetQueueAttributes must not make it a PurgeQueue by adding a header. In the header form clients
 * are known that sign no more than host and date (SQS.md section 7); there the sender is the signer, unless the signed
 * URL itself names an action of the query protocol.
 */
export function jsonTargetOf(
  { header, query }: JsonTarget,
  signed: {
    readonly presigned: boolean;
    readonly signedHeaders: readonly string[];
    readonly namesAction: boolean;
  },
): string | undefined {
  const headerIsSigned = signed.signedHeaders.includes('x-amz-target');
  if (signed.presigned || signed.namesAction) return query ?? (headerIsSigned ? header : undefined);
  return header ?? query;
}

type HeaderLookup = (lowerCaseName: string) => string | undefined;

/** Values of a repeated header are joined by a comma, as a signer joins them. */
function headerLookup(headers: RequestHead['headers']): HeaderLookup {
  return (wanted) => {
    let found: string | undefined;
    for (const [name, value] of headers) {
      if (name === wanted) found = found === undefined ? value : `${found},${value}`;
    }
    return found;
  };
}

/** The client's own value stands first; every proxy on the way adds one behind. */
function first(list: string | undefined): string | undefined {
  const value = list?.split(',', 1)[0]?.trim();
  return value === '' ? undefined : value;
}

/** A proxy may keep Host, replace it, or tell the host without the port that the client signed. */
function hostsOf(header: HeaderLookup, trustProxy: boolean): readonly string[] {
  const sent = header('host');
  const forwarded = trustProxy ? first(header('x-forwarded-host')) : undefined;
  const port = trustProxy ? first(header('x-forwarded-port')) : undefined;
  const hosts: string[] = [];
  if (forwarded !== undefined) {
    hosts.push(forwarded);
    if (port !== undefined && !/:[0-9]+$/.test(forwarded)) hosts.push(`${forwarded}:${port}`);
  }
  if (sent !== undefined && !hosts.includes(sent)) hosts.push(sent);
  return hosts;
}

export function parseRequest(request: RequestHead, trustProxy: boolean): ParsedRequest {
  const header = headerLookup(request.headers);
  const question = request.target.indexOf('?');
  const path = question < 0 ? request.target : request.target.slice(0, question);
  const query = question < 0 ? [] : queryParameters(request.target.slice(question + 1));
  const hosts = hostsOf(header, trustProxy);
  const forwardedScheme = trustProxy ? first(header('x-forwarded-proto')) : undefined;
  const secure = forwardedScheme === undefined ? request.secure === true : forwardedScheme === 'https';
  return {
    method: request.method,
    path: path === '' ? '/' : path,
    query,
    header,
    hosts,
    jsonTarget: {
      header: header('x-amz-target'),
      query: query.find(([name]) => name.toLowerCase() === 'x-amz-target')?.[1],
    },
    baseUrl: `${secure ? 'https' : 'http'}://${hosts[0] ?? 'localhost'}`,
  };
}
