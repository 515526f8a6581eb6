/**
 * Verifies AWS Signature Version 4, header form and presigned form, as clients really send it (SQS.md section 7).
 *
 * - The payload is always the body that arrived: a client's own x-amz-content-sha256 is only a header like others.
 * - Which hosts the client may have signed is the caller's to say (Host as sent; behind a trusted proxy the forwarded
 *   one too): the signature must fit one of them.
 * - Checks go from cheap to dear, and the signature is compared in constant time.
 */
import type { SigningDigests } from '../digests.ts';
import { formatAmzDate } from './amz-date.ts';
import { canonicalQuery, canonicalRequest } from './canonical-request.ts';
import { type SignatureClaim, signatureClaim } from './credentials-of-request.ts';
import { equalInConstantTime, toHex } from './hex.ts';
import type { SignatureFault } from './signature-fault.ts';
import { SigningKeyCache } from './signing-key-cache.ts';

export interface SignedRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Decoded. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly header: (lowerCaseName: string) => string | undefined;
  /** Values of the Host header the client may have signed, likeliest first. */
  readonly hosts: readonly string[];
  readonly body: Uint8Array;
}

export type Verification = Verified | SignatureFault;

export interface Verified {
  readonly kind: 'verified';
  readonly accessKeyId: string;
  readonly presigned: boolean;
  /** Lower case; of all headers only these are the signer's. */
  readonly signedHeaders: readonly string[];
}

export interface VerifierOptions {
  readonly digests: SigningDigests;
  readonly secretOf: (accessKeyId: string) => string | undefined;
  readonly nowMillis: () => number;
  readonly service: string;
  /** Empty: any. */
  readonly regions: readonly string[];
}

/** AWS's tolerance between the clocks of client and server. */
const SKEW_MILLIS_MAX = 15 * 60 * 1000;

function mismatch(message: string): SignatureFault {
  return { kind: 'fault', type: 'SignatureDoesNotMatch', message };
}

const MISMATCH = mismatch(
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
);

/** The server's time is in the text, so that a client (or its operator) can see whose clock is wrong. */
function timeFault(claim: SignatureClaim, nowMillis: number): SignatureFault | undefined {
  const now = formatAmzDate(nowMillis);
  if (claim.signedAtMillis > nowMillis + SKEW_MILLIS_MAX) {
    const latest = formatAmzDate(nowMillis + SKEW_MILLIS_MAX);
    return mismatch(
      `Signature not yet current: ${claim.amzDate} is still later than ${latest} (${now} + 15 min.)`,
    );
  }
  if (claim.expiresSeconds !== undefined) {
    const expiry = claim.signedAtMillis + claim.expiresSeconds * 1000;
    return nowMillis > expiry
      ? mismatch(`Signature expired: ${formatAmzDate(expiry)} is now earlier than ${now}`)
      : undefined;
  }
  if (claim.signedAtMillis < nowMillis - SKEW_MILLIS_MAX) {
    const earliest = formatAmzDate(nowMillis - SKEW_MILLIS_MAX);
    return mismatch(`Signature expired: ${claim.amzDate} is now earlier than ${earliest} (${now} - 15 min.)`);
  }
  return undefined;
}

export class SignatureVerifier {
  readonly #options: VerifierOptions;
  readonly #keys: SigningKeyCache;

  constructor(options: VerifierOptions) {
    this.#options = options;
    this.#keys = new SigningKeyCache(options.digests);
  }

  async verify(request: SignedRequest): Promise<Verification> {
    const claim = signatureClaim(request.header, request.query);
    if (claim.kind === 'fault') return claim;
    const secret = this.#options.secretOf(claim.accessKeyId);
    if (secret === undefined) {
      return {
        kind: 'fault',
        type: 'InvalidClientTokenId',
        message: 'The security token included in the request is invalid.',
      };
    }
    const fault = this.#scopeFault(claim) ?? timeFault(claim, this.#options.nowMillis());
    if (fault !== undefined) return fault;
    return this.#compare(request, claim, secret);
  }

  #scopeFault(claim: SignatureClaim): SignatureFault | undefined {
    const { service, regions } = this.#options;
    const { scope } = claim;
    if (scope.service !== service) {
      return mismatch(`Credential should be scoped to correct service: '${service}'.`);
    }
    if (regions.length > 0 && !regions.includes(scope.region)) {
      return mismatch('Credential should be scoped to a valid region.');
    }
    if (scope.date !== claim.amzDate.slice(0, 8)) {
      return mismatch(
        'Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.',
      );
    }
    if (!claim.signedHeaders.includes('host')) {
      return mismatch("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
    }
    return undefined;
  }

  async #compare(request: SignedRequest, claim: SignatureClaim, secret: string): Promise<Verification> {
    const { digests } = this.#options;
    const payloadHash = await digests.sha256Hex(request.body);
    const key = await this.#keys.signingKey(claim.accessKeyId, secret, claim.scope);
    const query = canonicalQuery(request.query);
    for (const host of request.hosts) {
      const headers: (readonly [string, string])[] = [];
      for (const name of claim.signedHeaders) {
        const value = name === 'host' ? host : request.header(name);
        if (value === undefined) return MISMATCH;
        headers.push([name, value]);
      }
      const { method, path } = request;
      const text = canonicalRequest({ method, path, canonicalQuery: query, headers, payloadHash });
      const { date, region, service } = claim.scope;
      const scope = `${date}/${region}/${service}/aws4_request`;
      const stringToSign = `AWS4-HMAC-SHA256\n${claim.amzDate}\n${scope}\n${await digests.sha256Hex(text)}`;
      const expected = toHex(await digests.hmacSha256(key, stringToSign));
      if (equalInConstantTime(expected, claim.signature)) {
        const { accessKeyId, signedHeaders } = claim;
        return {
          kind: 'verified',
          accessKeyId,
          presigned: claim.expiresSeconds !== undefined,
          signedHeaders,
        };
      }
    }
    return MISMATCH;
  }
}
