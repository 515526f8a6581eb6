/**
 * Finds what a request claims about its signature: in the Authorization header, or in the query of a presigned URL.
 * Nothing is verified here.
 */
import { parseAmzDate } from './amz-date.ts';
import type { SignatureFault } from './signature-fault.ts';
import type { CredentialScope } from './signing-key-cache.ts';

export interface SignatureClaim {
  readonly kind: 'claim';
  readonly accessKeyId: string;
  readonly scope: CredentialScope;
  /** Lower case, in the order given. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** As sent: it is part of the text that was signed. */
  readonly amzDate: string;
  readonly signedAtMillis: number;
  /** Presigned only: how long the URL is good for, seconds. */
  readonly expiresSeconds: number | undefined;
}

type HeaderLookup = (name: string) => string | undefined;
type Query = readonly (readonly [name: string, value: string])[];

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** A week, the longest AWS takes. */
const EXPIRES_SECONDS_MAX = 604_800;

function incomplete(message: string): SignatureFault {
  return { kind: 'fault', type: 'IncompleteSignature', message };
}

function mismatch(message: string): SignatureFault {
  return { kind: 'fault', type: 'SignatureDoesNotMatch', message };
}

function parseScope(
  credential: string,
): { readonly accessKeyId: string; readonly scope: CredentialScope } | SignatureFault {
  const parts = credential.split('/');
  const [accessKeyId, date, region, service, terminator] = parts;
  if (
    parts.length !== 5 ||
    accessKeyId === undefined ||
    date === undefined ||
    region === undefined ||
    service === undefined
  ) {
    return incomplete(
      'Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term.',
    );
  }
  if (terminator !== 'aws4_request') {
    return mismatch("Credential should be scoped with a valid terminator: 'aws4_request'.");
  }
  return { accessKeyId, scope: { date, region, service } };
}

function claimOf(
  fields: { credential: string; signedHeaders: string; signature: string },
  amzDate: string,
  expiresSeconds: number | undefined,
): SignatureClaim | SignatureFault {
  const parsed = parseScope(fields.credential);
  if ('kind' in parsed) return parsed;
  const signedAtMillis = parseAmzDate(amzDate);
  if (signedAtMillis === undefined) {
    return incomplete("Date must be in ISO-8601 'basic format', e.g. 20150830T123600Z.");
  }
  return {
    kind: 'claim',
    accessKeyId: parsed.accessKeyId,
    scope: parsed.scope,
    signedHeaders: fields.signedHeaders.split(';'),
    signature: fields.signature,
    amzDate,
    signedAtMillis,
    expiresSeconds,
  };
}

function claimOfHeader(authorization: string, header: HeaderLookup): SignatureClaim | SignatureFault {
  const space = authorization.search(/\s/);
  const algorithm = space < 0 ? authorization : authorization.slice(0, space);
  if (algorithm !== ALGORITHM) {
    return incomplete(`Unsupported AWS 'algorithm': only ${ALGORITHM} is accepted.`);
  }
  const fields = new Map<string, string>();
  for (const part of space < 0 ? [] : authorization.slice(space).split(/[,\s]+/)) {
    const equals = part.indexOf('=');
    if (equals > 0) fields.set(part.slice(0, equals), part.slice(equals + 1));
  }
  const missing = ['Credential', 'Signature', 'SignedHeaders'].filter((name) => !fields.get(name));
  const amzDate = header('x-amz-date') ?? dateHeaderAsAmzDate(header('date'));
  const sentences = missing.map((name) => `Authorization header requires '${name}' parameter.`);
  if (amzDate === undefined) {
    sentences.push("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
  }
  const [credential, signature, signedHeaders] = ['Credential', 'Signature', 'SignedHeaders'].map((name) =>
    fields.get(name),
  );
  if (
    sentences.length > 0 ||
    amzDate === undefined ||
    credential === undefined ||
    signature === undefined ||
    signedHeaders === undefined
  ) {
    return incomplete(sentences.join(' '));
  }
  return claimOf({ credential, signature, signedHeaders }, amzDate, undefined);
}

/** A signer without X-Amz-Date puts the basic ISO form, or an HTTP date, into Date. */
function dateHeaderAsAmzDate(date: string | undefined): string | undefined {
  if (date === undefined || parseAmzDate(date) !== undefined) return date;
  const millis = Date.parse(date);
  return Number.isNaN(millis) ? date : new Date(millis).toISOString().replace(/[-:]|\.[0-9]{3}/g, '');
}

function claimOfQuery(query: Query): SignatureClaim | SignatureFault {
  const fields = new Map(query);
  const algorithm = fields.get('X-Amz-Algorithm');
  const credential = fields.get('X-Amz-Credential');
  const amzDate = fields.get('X-Amz-Date');
  const signedHeaders = fields.get('X-Amz-SignedHeaders');
  const signature = fields.get('X-Amz-Signature');
  const expires = fields.get('X-Amz-Expires');
  if (algorithm !== ALGORITHM) {
    return incomplete(`Unsupported AWS 'algorithm': only ${ALGORITHM} is accepted.`);
  }
  if (!credential || !amzDate || !signedHeaders || !signature || !expires) {
    const names = 'X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders';
    return incomplete(`AWS query-string parameters must include ${names} and X-Amz-Expires.`);
  }
  const expiresSeconds = /^[0-9]{1,7}$/.test(expires) ? Number(expires) : 0;
  if (expiresSeconds < 1 || expiresSeconds > EXPIRES_SECONDS_MAX) {
    return incomplete(`X-Amz-Expires must be between 1 and ${EXPIRES_SECONDS_MAX} seconds.`);
  }
  return claimOf({ credential, signature, signedHeaders }, amzDate, expiresSeconds);
}

export function signatureClaim(header: HeaderLookup, query: Query): SignatureClaim | SignatureFault {
  const authorization = header('authorization');
  if (authorization !== undefined) return claimOfHeader(authorization.trim(), header);
  if (query.some(([name]) => name.startsWith('X-Amz-Signature') || name === 'X-Amz-Algorithm')) {
    return claimOfQuery(query);
  }
  return {
    kind: 'fault',
    type: 'MissingAuthenticationToken',
    message: 'Request is missing Authentication Token',
  };
}
