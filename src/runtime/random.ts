/**
 * Strong randomness behind the engine's `Environment`. Draws are cut from a block, since a call of `getRandomValues`
 * costs more than the sixteen bytes of an id. No byte is handed out twice.
 */
import type { Random } from '../engine/environment.ts';

/** `getRandomValues` refuses more than 65,536 bytes in one call. */
const BLOCK_BYTES = 4_096;

export function createSystemRandom(): Random {
  const block = new Uint8Array(BLOCK_BYTES);
  let used = BLOCK_BYTES;

  function bytes(count: number): Uint8Array {
    if (count > BLOCK_BYTES) {
      const large = new Uint8Array(count);
      for (let at = 0; at < count; at += BLOCK_BYTES)
        crypto.getRandomValues(large.subarray(at, at + BLOCK_BYTES));
      return large;
    }
    if (used + count > BLOCK_BYTES) {
      crypto.getRandomValues(block);
      used = 0;
    }
    const drawn = block.slice(used, used + count);
    used += count;
    return drawn;
  }

  return {
    bytes,
    unit: () => {
      const drawn = bytes(7);
      // 53 bits, the precision of a double: five from the first byte, 48 from the rest.
      let value = drawn[0]! & 0x1f;
      for (let at = 1; at < 7; at += 1) value = value * 256 + drawn[at]!;
      return value / 2 ** 53;
    },
  };
}
