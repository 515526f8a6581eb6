/**
 * Proves at start that a store really compares and swaps. Several S3-compatible servers accept the conditional headers and
 * ignore them; on such a store two processes would overwrite each other's commits and lose acknowledged messages.
 *
 * - Works on any store behind the port, under a key prefix of its own, and removes what it wrote.
 * - A store that is merely down, slow or throttling proves nothing: then a retryable StoreError is thrown.
 * - A conditional DELETE that doesn't ask is no reason to refuse a store: okuri then deletes no tombstones. Nor is a LIST
 *   with other tags than the writes had: okuri then reads each queue that a receive waits on.
 */
import {
  type ETag,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
} from './object-store.ts';
import { type Versioning, warningsOf } from './probe-warnings.ts';

export type ProbeName =
  | 'read after write'
  | 'create once'
  | 'swap with the right tag'
  | 'swap with a wrong tag'
  | 'swap of a missing key'
  | 'concurrent swaps'
  | 'list after write';

export type ProbeResult =
  | {
      readonly ok: true;
      /** Whether a DELETE with a wrong tag leaves the object; only then may `deleteIfMatch` be used. */
      readonly conditionalDelete: boolean;
      /** Whether a LIST right after a PUT or a swap shows its tag; only then may LISTs stand for reads. */
      readonly listTags: boolean;
      readonly ifMatchForm: IfMatchForm;
      /** For the log at start. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly failedProbe: ProbeName; readonly detail: string };

/** How an adapter sends a tag back: as it came, without the mark of weakness, or without quotes too. */
export type IfMatchForm = 'as-received' | 'strong' | 'unquoted';
export type { Versioning };

/** What only an adapter of a bucket has; wrappers of the store needn't know of it. */
export interface ProbedAdapter {
  ifMatchForm: IfMatchForm;
  versioning(): Promise<Versioning>;
}

export interface ProbeOptions {
  /** At least 8 random bytes: probes of several processes run at the same time. */
  readonly nonce: Uint8Array;
  readonly adapter?: ProbedAdapter;
}

const CONCURRENT_SWAPS = 32;
/** A store may refuse all of a crowd with 409; nothing was lost then, and the crowd is sent again. */
const CONCURRENT_ROUNDS_MAX = 5;
/** A cache that lags by one or now and then is seen. */
const LISTED_SWAPS = 4;
const FORMS: readonly IfMatchForm[] = ['as-received', 'strong', 'unquoted'];

/** @throws StoreError (retryable) when the store doesn't answer well enough to be judged. */
export async function probeStore(store: ObjectStore, options: ProbeOptions): Promise<ProbeResult> {
  const root = `probe/${[...options.nonce].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  try {
    return await runProbes(store, root, options.adapter);
  } catch (error) {
    if (error instanceof ProbeFailure) return { ok: false, failedProbe: error.probe, detail: error.message };
    throw error;
  } finally {
    await removeAll(store, root);
  }
}

async function runProbes(
  store: ObjectStore,
  root: string,
  adapter: ProbedAdapter | undefined,
): Promise<ProbeResult> {
  await probing('read after write', () => probeReadAfterWrite(store, `${root}/read`));
  const created = await probing('create once', () => probeCreate(store, `${root}/swap`));
  const tags = await probing('swap with the right tag', () =>
    probeForms(store, `${root}/swap`, created, adapter),
  );
  await probing('swap with a wrong tag', () => probeWrongTag(store, `${root}/swap`, tags.old));
  await probing('swap of a missing key', () => probeMissingKey(store, `${root}/none`, tags.old));
  await probing('concurrent swaps', () => probeConcurrentSwaps(store, `${root}/swap`));
  const listTags = await probing('list after write', () => probeList(store, root));
  const conditionalDelete = await probeConditionalDelete(store, `${root}/swap`, tags.old);
  return {
    ok: true,
    conditionalDelete,
    listTags,
    ifMatchForm: adapter?.ifMatchForm ?? 'as-received',
    warnings: warningsOf({ versioning: await adapter?.versioning(), conditionalDelete, listTags }),
  };
}

async function probeReadAfterWrite(store: ObjectStore, key: string): Promise<void> {
  const etag = written(await store.put(key, text('one')));
  const got = await store.get(key);
  expect(
    got.kind === 'done' && got.etag === etag && isText(got.body, 'one'),
    'a GET after a PUT shows something else',
  );
  await settledDelete(store, key);
  expect((await store.get(key)).kind === 'missing', 'a GET after a DELETE still shows the object');
}

async function probeCreate(store: ObjectStore, key: string): Promise<ETag> {
  const etag = written(await store.putIfAbsent(key, text('created')));
  const again = decided(await store.putIfAbsent(key, text('created again')));
  expect(again.kind === 'conflict', 'a second PUT with If-None-Match: * was accepted');
  await expectBody(store, key, 'created');
  return etag;
}

/** Leaves the adapter at the first form of the tag that the store accepts. */
async function probeForms(
  store: ObjectStore,
  key: string,
  old: ETag,
  adapter: ProbedAdapter | undefined,
): Promise<{ readonly old: ETag }> {
  for (const form of adapter === undefined ? FORMS.slice(0, 1) : FORMS) {
    if (adapter !== undefined) adapter.ifMatchForm = form;
    const outcome = await unlessRefused(store.putIfMatch(key, text('swapped'), old));
    if (outcome === undefined || decided(outcome).kind !== 'done') continue;
    await expectBody(store, key, 'swapped');
    return { old };
  }
  if (adapter !== undefined) adapter.ifMatchForm = 'as-received';
  throw new Unexpected('a PUT with If-Match and the right tag is refused in every form of the tag');
}

async function probeWrongTag(store: ObjectStore, key: string, old: ETag): Promise<void> {
  const outcome = decided(await store.putIfMatch(key, text('overwritten'), old));
  expect(outcome.kind === 'conflict', 'a PUT with If-Match and an old tag was accepted');
  await expectBody(store, key, 'swapped');
}

async function probeMissingKey(store: ObjectStore, key: string, tag: ETag): Promise<void> {
  const outcome = decided(await store.putIfMatch(key, text('created'), tag));
  expect(outcome.kind !== 'done', 'a PUT with If-Match on a missing key was accepted');
  expect((await store.get(key)).kind === 'missing', 'a PUT with If-Match created a missing key');
}

async function probeConcurrentSwaps(store: ObjectStore, key: string): Promise<void> {
  for (let round = 1; round <= CONCURRENT_ROUNDS_MAX; round += 1) {
    const tag = await tagOf(store, key);
    const outcomes = await Promise.all(
      Array.from({ length: CONCURRENT_SWAPS }, (_, index) =>
        store.putIfMatch(key, text(swapBody(round, index)), tag),
      ),
    );
    const winners = outcomes.flatMap((outcome, index) => (outcome.kind === 'done' ? [index] : []));
    expect(
      winners.length <= 1,
      `${winners.length} of ${CONCURRENT_SWAPS} concurrent PUTs with one tag were accepted`,
    );
    const [winner] = winners;
    if (winner === undefined) continue;
    await expectBody(store, key, swapBody(round, winner));
    return;
  }
  throw new StoreError('the store accepted none of many concurrent swaps', { retryable: true });
}

function swapBody(round: number, index: number): string {
  return `swap ${round}.${index}`;
}

/** Whether the tags are those of the writes, which a swap changes as a PUT does, and a page begins where it is told. */
async function probeList(store: ObjectStore, root: string): Promise<boolean> {
  const key = `${root}/list`;
  let honest = true;
  let etag = written(await store.put(key, text('put')));
  for (let swap = 0; ; swap += 1) {
    const listed = (await store.list({ prefix: key })).objects.find((object) => object.key === key);
    expect(listed !== undefined, 'a LIST right after a PUT does not show the object');
    honest &&= listed?.etag === etag;
    if (swap === LISTED_SWAPS) break;
    etag = written(await store.putIfMatch(key, text(`swap ${swap}`), etag));
  }
  const { objects } = await store.list({ prefix: root, startAfter: key });
  return honest && objects.every((object) => object.key > key);
}

async function probeConditionalDelete(store: ObjectStore, key: string, old: ETag): Promise<boolean> {
  const wrong = await unlessRefused(store.deleteIfMatch(key, old));
  if (wrong === undefined || decided(wrong).kind === 'done') return false;
  const got = await store.get(key);
  if (got.kind !== 'done') return false;
  const right = await unlessRefused(store.deleteIfMatch(key, got.etag));
  return right !== undefined && decided(right).kind === 'done' && (await store.get(key)).kind === 'missing';
}

/** What a probe saw that must not be; `probing` gives it the name of the probe. */
class Unexpected extends Error {}

class ProbeFailure extends Error {
  readonly probe: ProbeName;

  constructor(probe: ProbeName, detail: string) {
    super(detail);
    this.probe = probe;
  }
}

async function probing<Result>(probe: ProbeName, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const refused = error instanceof StoreError && !error.retryable;
    if (refused || error instanceof Unexpected) throw new ProbeFailure(probe, error.message);
    throw error;
  }
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Unexpected(otherwise);
}

/** `unknown` proves nothing either way: the whole probe is to be run again. */
function decided<Outcome extends { readonly kind: string }>(
  outcome: Outcome,
): Exclude<Outcome, { kind: 'unknown' }> {
  if (outcome.kind === 'unknown') {
    throw new StoreError('the store did not answer while it was probed', { retryable: true });
  }
  return outcome as Exclude<Outcome, { kind: 'unknown' }>;
}

function written(outcome: PutOutcome | PutIfAbsentOutcome | PutIfMatchOutcome): ETag {
  const result = decided(outcome);
  if (result.kind !== 'done') throw new Unexpected('a PUT of a new key was refused');
  return result.etag;
}

async function tagOf(store: ObjectStore, key: string): Promise<ETag> {
  const got = await store.get(key);
  if (got.kind !== 'done') throw new Unexpected('an object that was written is missing');
  return got.etag;
}

async function expectBody(store: ObjectStore, key: string, body: string): Promise<void> {
  const got = await store.get(key);
  expect(
    got.kind === 'done' && isText(got.body, body),
    'a PUT that was refused took effect, or one that was accepted did not',
  );
}

/** Undefined when the store refuses such a request altogether (not implemented). */
async function unlessRefused<Outcome>(request: Promise<Outcome>): Promise<Outcome | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return undefined;
    throw error;
  }
}

async function settledDelete(store: ObjectStore, key: string): Promise<void> {
  decided(await store.delete(key));
}

/** Best effort: what a failing store keeps is a few bytes under `probe/`. */
async function removeAll(store: ObjectStore, root: string): Promise<void> {
  try {
    // Named one by one and not by a LIST, which the probe may just have found to be stale.
    for (const name of ['read', 'swap', 'none', 'list']) await store.delete(`${root}/${name}`);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function isText(body: Uint8Array, value: string): boolean {
  return new TextDecoder().decode(body) === value;
}
