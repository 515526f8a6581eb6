/**
 * Signing keys by key id, date, region and service. A key costs four HMACs and serves a day, so without the cache it
 * would be most of a check. Bounded, oldest out first: a date or region is the caller's text, though only of callers
 * whose key id exists. The secret is part of the entry, so that a rotated one never signs with a cached key.
 */
import type { SigningDigests } from '../digests.ts';

export interface CredentialScope {
  /** YYYYMMDD. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** A few keys × regions × two dates around midnight; an entry is some 300 bytes. */
const ENTRIES_MAX = 1_024;

const encoder = new TextEncoder();

export class SigningKeyCache {
  readonly #digests: SigningDigests;
  readonly #entries = new Map<string, { readonly secret: string; readonly key: Uint8Array }>();

  constructor(digests: SigningDigests) {
    this.#digests = digests;
  }

  async signingKey(accessKeyId: string, secret: string, scope: CredentialScope): Promise<Uint8Array> {
    const cacheKey = `${accessKeyId}/${scope.date}/${scope.region}/${scope.service}`;
    const cached = this.#entries.get(cacheKey);
    if (cached !== undefined && cached.secret === secret) return cached.key;
    const dateKey = await this.#digests.hmacSha256(encoder.encode(`AWS4${secret}`), scope.date);
    const regionKey = await this.#digests.hmacSha256(dateKey, scope.region);
    const serviceKey = await this.#digests.hmacSha256(regionKey, scope.service);
    const key = await this.#digests.hmacSha256(serviceKey, 'aws4_request');
    if (this.#entries.size >= ENTRIES_MAX) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    this.#entries.set(cacheKey, { secret, key });
    return key;
  }
}
