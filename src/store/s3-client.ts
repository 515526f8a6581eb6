/** How the SDK's client is set up for okuri, and why each setting is what it is. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { ETag } from './object-store.ts';
import type { IfMatchForm } from './probe.ts';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Before every key, with or without slashes at its ends. */
  readonly prefix?: string;
  /** For stores other than AWS. */
  readonly endpoint?: string;
  /** Default: the SDK's usual chain (AWS_REGION, profile). */
  readonly region?: string;
  readonly forcePathStyle?: boolean;
  /** Default: the SDK's usual chain (environment, profile, container, instance). */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly socketsMax?: number;
  readonly requestTimeoutMillis?: number;
}

/** A commit needs one socket; a start that reads many segments is bounded by this instead of by the store's patience. */
const SOCKETS_MAX = 64;
/**
 * S3's slowest single answers are a few seconds, and a commit that hasn't been answered by then is better resolved by
 * reading. Commands wait 10 s at most (DESIGN.md section 3), so a longer wait would help nobody.
 */
export const REQUEST_TIMEOUT_MILLIS = 10_000;

export function clientConfig(options: S3StoreOptions): S3ClientConfig {
  const agent = { keepAlive: true, maxSockets: options.socketsMax ?? SOCKETS_MAX };
  return {
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would open a new connection for each body over 2 MiB; a segment is one the store rarely refuses.
    expectContinueHeader: false,
    requestHandler: { httpAgent: agent, httpsAgent: agent },
    forcePathStyle: options.forcePathStyle ?? false,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
  };
}

/** Some stores compare If-Match with the bare digest; a weak tag never matches strongly (RFC 9110, 13.1.1). */
export function inForm(etag: ETag, form: IfMatchForm): string {
  if (form === 'as-received') return etag;
  const strong = etag.replace(/^W\//, '');
  return form === 'strong' ? strong : strong.replace(/^"|"$/g, '');
}
