/** What the cases of the contract share: the store under test, fresh keys, and small ways to write and compare. */
import assert from 'node:assert/strict';
import type { ETag, ListedObject, ObjectStore, PutIfMatchOutcome } from '../../src/store/object-store.ts';

export interface StoreUnderTest {
  readonly name: string;
  /** Called once, before the first test; `clients` are separate connections to the same objects. */
  open(): Promise<{ readonly store: ObjectStore; readonly clients: readonly ObjectStore[] }>;
  close(): Promise<void>;
  /** Servers that answer a conditional DELETE by deleting regardless are known by the probe and never asked for one. */
  readonly conditionalDelete: boolean;
  /** Whether `a` and `a/b` can both be objects. Gateways over a folder tree can't; no key of okuri is the folder of another. */
  readonly keyMayBeFolder: boolean;
  /** How far the clock of the store may be from ours: both run on this machine. */
  readonly clockSkewMillisMax: number;
}

/** A key root that no other test uses, so that no bucket needs emptying in between. */
export type FreshKeys = () => Promise<{
  readonly store: ObjectStore;
  readonly clients: readonly ObjectStore[];
  readonly root: string;
}>;

export const TAG_OF_NOTHING = '"0123456789abcdef0123456789abcdef"' as ETag;

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

export function pattern(bytes: number, step: number): Uint8Array {
  const body = new Uint8Array(bytes);
  for (let index = 0; index < bytes; index += 1) body[index] = (index * step + (index >>> 8)) & 0xff;
  return body;
}

/** assert.deepEqual takes seconds for megabytes on some runtimes. */
export function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

export async function written(store: ObjectStore, key: string, value: string): Promise<ETag> {
  const outcome = await store.put(key, text(value));
  assert.ok(outcome.kind === 'done', `put of ${key} answered ${outcome.kind}`);
  return outcome.etag;
}

export async function bodyOf(store: ObjectStore, key: string): Promise<Uint8Array> {
  const got = await store.get(key);
  assert.ok(got.kind === 'done', `get of ${key} answered ${got.kind}`);
  return got.body;
}

export function assertLost(outcome: { readonly kind: string }): void {
  assert.ok(outcome.kind === 'missing' || outcome.kind === 'conflict', `answered ${outcome.kind}`);
}

/** A store under load may answer `unknown`; the winner must still be alone. */
export function assertOneWinner(outcomes: readonly Pick<PutIfMatchOutcome, 'kind'>[]): void {
  const winners = outcomes.filter((outcome) => outcome.kind === 'done').length;
  assert.equal(winners, 1, `${winners} winners: ${outcomes.map((outcome) => outcome.kind).join(' ')}`);
}

export function namesOf(objects: readonly ListedObject[], root: string): string[] {
  return objects.map((object) => object.key.slice(root.length + 1));
}

export async function inParallel(
  clients: readonly ObjectStore[],
  names: readonly string[],
  action: (client: ObjectStore, name: string) => Promise<{ readonly kind: string }>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (next < names.length) {
        const name = names[next]!;
        next += 1;
        assert.equal((await action(client, name)).kind, 'done');
      }
    }),
  );
}
