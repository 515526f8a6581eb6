/**
 * What names a message group where its id would take too much room, in deliveries and intents: the first 8 bytes of
 * SHA-256 over the id. Two groups with one hash, one pair in 10^19, would lock each other and nothing else.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type GroupHash, groupHashBytes, hexFromBytes } from './ids.ts';
import type { MessageContent } from './message.ts';

/** A message never changes, and those of the tail are looked at by every receive. */
const known = new WeakMap<object, GroupHash>();

/** Those without a group, which no surface lets in, are of one of their own. */
export function groupHashOf(groupId: string | undefined): GroupHash {
  const hash = sha256(utf8ToBytes(groupId ?? '')).subarray(0, groupHashBytes);
  return hexFromBytes(hash) as GroupHash;
}

export function groupOf(message: Pick<MessageContent, 'groupId'>): GroupHash {
  let hash = known.get(message);
  if (hash === undefined) {
    hash = groupHashOf(message.groupId);
    known.set(message, hash);
  }
  return hash;
}

/** By ordinal, of one segment; equal ones are one string. */
export function groupHashesOf(groupIds: Iterable<string | undefined>): readonly GroupHash[] {
  const hashes = new Map<string | undefined, GroupHash>();
  return Array.from(groupIds, (groupId) => {
    let hash = hashes.get(groupId);
    if (hash === undefined) {
      hash = groupHashOf(groupId);
      hashes.set(groupId, hash);
    }
    return hash;
  });
}
