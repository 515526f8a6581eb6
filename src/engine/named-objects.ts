/**
 * The immutable objects that a state names: what a collector must leave alone. Directly, or through a page of segments.
 *
 * A segment that a commit moves into a page leaves the manifest and is as alive as before †. Whether it is in a page
 * is told without reading one by its sequence numbers: in the hull of a page no other segment has a live message
 * (core/segments-pages.ts).
 */
import { type Hull, overlap } from '../core/hull.ts';
import { isPageOf } from '../core/page-belongs.ts';
import { type PageContents, pageKinds } from '../core/pages.ts';
import { type QueueState, segmentIdOf } from '../core/queue-state.ts';
import { hullOf } from '../core/segments-pages.ts';
import type { ObjectKeyParts } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';

export type NamedObject = Pick<ObjectKeyParts, 'kind' | 'baseVersion' | 'nonce'>;

/** What a commit no longer names directly. */
export interface DroppedObject extends NamedObject {
  /** Of a segment: the sequence numbers it had. */
  readonly hull?: Hull;
}

/** Unique within an incarnation. */
export function nameOf({ kind, baseVersion, nonce }: NamedObject): string {
  return `${kind}/${baseVersion}-${nonce}`;
}

/** Directly; a segment also when a page may have it. */
export function mayName(state: QueueState, { hull, ...object }: DroppedObject): boolean {
  if (names(state, object)) return true;
  if (hull) for (const page of state.segmentsPages.values()) if (overlap(page, hull)) return true;
  return false;
}

/** Directly. */
export function names(state: QueueState, { kind, baseVersion, nonce }: NamedObject): boolean {
  const references: ReadonlyMap<string, unknown> | undefined = referencesOf(state).get(kind);
  return references?.has(`${baseVersion}-${nonce}`) ?? false;
}

export function* namedBy(state: QueueState): Generator<NamedObject, void, undefined> {
  for (const [kind, references] of referencesOf(state))
    for (const { baseVersion, nonce } of references.values()) yield { kind, baseVersion, nonce };
}

/** What `before` names and `next` doesn't, neither directly nor through a page. */
export function* droppedBetween(
  before: QueueState,
  next: QueueState,
): Generator<DroppedObject, void, undefined> {
  const kept = referencesOf(next);
  for (const [kind, references] of referencesOf(before)) {
    const still: ReadonlyMap<string, unknown> | undefined = kept.get(kind);
    if (still === references) continue;
    for (const [id, { baseVersion, nonce }] of references) {
      if (still?.has(id)) continue;
      const segment = kind === 'seg' ? before.segments.get(segmentIdOf({ baseVersion, nonce })) : undefined;
      const object = { kind, baseVersion, nonce, ...(segment && { hull: hullOf(segment.runs) }) };
      if (!mayName(next, object)) yield object;
    }
  }
}

/** The content of a page of segments, or undefined when it can't be read. @throws StoreError when it may be readable later */
export async function readSegmentsPage(
  context: EngineContext,
  queue: Pick<ObjectKeyParts, 'name' | 'incarnation'>,
  { baseVersion, nonce }: Pick<NamedObject, 'baseVersion' | 'nonce'>,
): Promise<PageContents['segments'] | undefined> {
  const result = await context.pages.load({ ...queue, kind: 'segments', baseVersion, nonce });
  if (result.kind === 'failed') throw new StoreError(result.reason, { retryable: true });
  return result.kind === 'loaded' ? (result.value as PageContents['segments']) : undefined;
}

/**
 * Every object that a state names, directly and through pages; undefined when a page can't be read: then nobody
 * knows, and nothing may be deleted (DESIGN.md section 5). @throws StoreError when it may be readable later
 */
export async function allNamedBy(
  context: EngineContext,
  name: string,
  state: QueueState,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>();
  for (const object of namedBy(state)) named.add(nameOf(object));
  // One after the other: a backlog has hundreds, and nobody waits.
  for (const reference of state.segmentsPages.values()) {
    const segments = await readSegmentsPage(context, { name, incarnation: state.incarnation }, reference);
    if (!segments || !isPageOf('segments', segments, reference)) return undefined;
    for (const segment of segments.values()) named.add(nameOf({ kind: 'seg', ...segment }));
  }
  return named;
}

type References = ReadonlyMap<string, { readonly baseVersion: number; readonly nonce: string }>;

function referencesOf(state: QueueState): ReadonlyMap<ObjectKeyParts['kind'], References> {
  const pages = pageKinds.map((kind) => [kind, state[`${kind}Pages`]] as const);
  return new Map<ObjectKeyParts['kind'], References>([['seg', state.segments], ...pages]);
}
