/**
 * Every key okuri writes is built here and nowhere else. Keys freeze with the first release: a change is a new kind
 * beside the old one, never another form of it. Keys are relative to the configured prefix.
 *
 * | key | mutability | lifetime | who deletes it |
 * | --- | --- | --- | --- |
 * | `m/<name>` | swapped by If-Match only, created if absent only | a queue's name: manifest, then tombstone | nobody unconditionally; a tombstone an hour old goes by conditional DELETE where the store does that honestly |
 * | `s/<hash>-<name>/<incarnation>/<kind>/<base version>-<nonce>` | immutable, written once by a plain PUT | while the incarnation's manifest names it, directly or through pages | the collector, below the manifest's `collectedBelow`; the daily listing, when the incarnation is gone |
 * | `s/<hash>-<name>/<incarnation>/turn/0…0-0…0` | overwritten by plain PUTs of anybody; says nothing that must be true (engine/turn.ts) | while a writer loses every swap | the writer that put it there, or the daily listing like any other object of no base version |
 * | `t/<queue name>/<task id>` | empty, put before a message move task is started | while the task is under way (engine/task-finder.ts) | who sees that the task has ended; who finds that the queue knows none of that id, after an hour |
 * | `probe/…` | start-up probe and clock reading (store/probe.ts, engine/time-source.ts) | seconds | whoever wrote it; what a crash left, the daily listing after an hour |
 *
 * - `hash` is the start of SHA-256 of the name: it spreads queues over the store's key ranges. Of fixed length, so
 *   names with `-` still parse.
 * - `base version` is the manifest version the writer started from, in 16 digits, so that a LIST comes in version order.
 * - `nonce`: two writers that start from one version, or one writer twice, never meet on a key.
 * - A key that doesn't parse is not ours to judge: nothing deletes it.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hexFromBytes, type Incarnation } from '../core/ids.ts';
import { isQueueName } from '../core/queue-arn.ts';

/** Kinds of object that belong to an incarnation; all but `turn` are immutable. A page's kind is that of its content (core/pages.ts). */
export type ObjectKind = 'seg' | 'delayed' | 'lease' | 'ready' | 'segments' | 'deduplication' | 'turn';

const kinds: ReadonlySet<string> = new Set<ObjectKind>([
  'seg',
  'delayed',
  'lease',
  'ready',
  'segments',
  'deduplication',
  'turn',
]);

export interface ObjectKeyParts {
  readonly name: string;
  readonly incarnation: Incarnation;
  readonly kind: ObjectKind;
  /** Manifest version the writer of the object had before it. */
  readonly baseVersion: number;
  readonly nonce: string;
}

export const objectNonceBytes = 8;

/** Prefix of every queue's manifest. */
export const manifestsPrefix = 'm/';
/** Prefix of every immutable object of every queue. */
export const objectsPrefix = 's/';
/** Prefix of throw-away objects: nothing of them outlives the seconds they are for. Others may keep things there too. */
export const throwAwayPrefix = 'probe/';
const throwAwayPattern = /^probe\/(?:clock-[0-9a-f]{16}|[0-9a-f]{16,}\/[a-z]+)$/;

/** Prefix of the markers of message move tasks. */
export const moveTasksPrefix = 't/';
const moveTaskPattern = /^t\/([A-Za-z0-9_.-]+)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const nameCharactersMax = 80;
/** Of names, in the order of keys. */
const keyCharacters = '-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const baseVersionDigits = 16;
const objectKeyPattern =
  /^s\/([0-9a-f]{8})-([A-Za-z0-9_.-]+)\/([0-9a-f]{32})\/([a-z]+)\/([0-9]{16})-([0-9a-f]{16})$/;

/** A throw-away object whose write tells the store's time. */
export function clockObjectKey(nonce: Uint8Array): string {
  return `${throwAwayPrefix}clock-${hexFromBytes(nonce)}`;
}

/** Whether okuri wrote it, to throw away (a probe names its objects by its nonce and a word): others may keep things there. */
export function isThrowAwayKey(key: string): boolean {
  return throwAwayPattern.test(key);
}

/** Whether any queue's name could begin so: the rest of the world need not be listed. */
export function isQueueNamePrefix(text: string): boolean {
  return text.length <= nameCharactersMax && /^(?:[A-Za-z0-9_-]+(?:\.(?:f(?:i(?:fo?)?)?)?)?)?$/.test(text);
}

export function manifestKey(name: string): string {
  return manifestsPrefix + named(name);
}

/** For listing the queues whose names begin so. @throws TypeError for what `isQueueNamePrefix` refuses. */
export function manifestPrefix(namePrefix: string): string {
  if (!isQueueNamePrefix(namePrefix))
    throw new TypeError(`no queue name begins with ${JSON.stringify(namePrefix)}`);
  return manifestsPrefix + namePrefix;
}

/**
 * A key before the name's manifest with no other queue's in between: a LIST after it begins with that queue, if it is
 * there. It is the largest that is smaller.
 */
export function keyBeforeManifest(name: string): string {
  const key = manifestKey(name);
  const smaller = keyCharacters.slice(0, keyCharacters.indexOf(key.at(-1)!)).at(-1);
  if (smaller === undefined) return key.slice(0, -1);
  const room = manifestsPrefix.length + nameCharactersMax;
  return `${key.slice(0, -1)}${smaller}`.padEnd(room, keyCharacters.at(-1));
}

export function queueNameOfManifestKey(key: string): string | undefined {
  if (!key.startsWith(manifestsPrefix)) return undefined;
  const name = key.slice(manifestsPrefix.length);
  return isQueueName(name) ? name : undefined;
}

/** The marker of a message move task out of that queue. `id`: a UUID. */
export function moveTaskKey(queue: string, id: string): string {
  const key = `${moveTasksPrefix}${named(queue)}/${id}`;
  if (!moveTaskPattern.test(key)) throw new TypeError('the id of a task is a UUID');
  return key;
}

export function parseMoveTaskKey(key: string): { readonly queue: string; readonly id: string } | undefined {
  const [, queue, id] = moveTaskPattern.exec(key) ?? [];
  return queue !== undefined && id !== undefined && isQueueName(queue) ? { queue, id } : undefined;
}

/** Everything of every incarnation of a name. */
export function queuePrefix(name: string): string {
  return `${objectsPrefix}${hashOf(named(name))}-${name}/`;
}

/** Everything of one incarnation. */
export function incarnationPrefix(name: string, incarnation: Incarnation): string {
  if (!/^[0-9a-f]{32}$/.test(incarnation)) throw new TypeError('an incarnation is 32 hex digits');
  return `${queuePrefix(name)}${incarnation}/`;
}

export function objectKey(parts: ObjectKeyParts): string {
  const { name, incarnation, kind, baseVersion, nonce } = parts;
  if (!Number.isSafeInteger(baseVersion) || baseVersion < 0)
    throw new TypeError('a base version is a safe integer');
  if (!/^[0-9a-f]{16}$/.test(nonce)) throw new TypeError('a nonce is 16 hex digits');
  const version = String(baseVersion).padStart(baseVersionDigits, '0');
  return `${incarnationPrefix(name, incarnation)}${kind}/${version}-${nonce}`;
}

/** Where a writer asks for its turn: one key, so that looking there takes one GET. */
export function turnKey(queue: Pick<ObjectKeyParts, 'name' | 'incarnation'>): string {
  const { name, incarnation } = queue;
  return objectKey({
    name,
    incarnation,
    kind: 'turn',
    baseVersion: 0,
    nonce: '0'.repeat(2 * objectNonceBytes),
  });
}

/** `undefined`: not a key this version writes. */
export function parseObjectKey(key: string): ObjectKeyParts | undefined {
  const match = objectKeyPattern.exec(key);
  if (match === null) return undefined;
  const [, hash, name, incarnation, kind, version, nonce] = match as unknown as string[];
  if (!isQueueName(name!) || hash !== hashOf(name!) || !kinds.has(kind!)) return undefined;
  const baseVersion = Number(version);
  if (!Number.isSafeInteger(baseVersion)) return undefined;
  return {
    name: name!,
    incarnation: incarnation as Incarnation,
    kind: kind as ObjectKind,
    baseVersion,
    nonce: nonce!,
  };
}

function hashOf(name: string): string {
  return hexFromBytes(sha256(utf8ToBytes(name)).subarray(0, 4));
}

function named(name: string): string {
  if (!isQueueName(name)) throw new TypeError(`not a queue name: ${JSON.stringify(name)}`);
  return name;
}
