/** The portable digests: Web Crypto for SHA-256, @noble/hashes for MD5, which Web Crypto lacks. */
import { md5Hex } from '../../core/md5.ts';
import type { SqsDigests } from './digests.ts';
import { toHex } from './sigv4/hex.ts';

const encoder = new TextEncoder();

/** Web Crypto takes no view of a SharedArrayBuffer; bodies never are one. */
type OwnBytes = Uint8Array<ArrayBuffer>;

export const webCryptoDigests: SqsDigests = {
  async sha256Hex(data) {
    const bytes = typeof data === 'string' ? encoder.encode(data) : (data as OwnBytes);
    return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  },

  async hmacSha256(key, data) {
    const imported = await crypto.subtle.importKey(
      'raw',
      key as OwnBytes,
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(data)));
  },

  md5Hex,
};
