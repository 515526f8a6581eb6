/** The immutable objects that a state names: what a collector must leave alone. */
import { pageKinds } from '../core/pages.ts';
import type { QueueState } from '../core/queue-state.ts';
import type { ObjectKeyParts } from '../format/object-keys.ts';

export type NamedObject = Pick<ObjectKeyParts, 'kind' | 'baseVersion' | 'nonce'>;

/** Unique within an incarnation. */
export function nameOf({ kind, baseVersion, nonce }: NamedObject): string {
  return `${kind}/${baseVersion}-${nonce}`;
}

export function names(state: QueueState, { kind, baseVersion, nonce }: NamedObject): boolean {
  const references: ReadonlyMap<string, unknown> | undefined = referencesOf(state).get(kind);
  return references?.has(`${baseVersion}-${nonce}`) ?? false;
}

export function* namedBy(state: QueueState): Generator<NamedObject, void, undefined> {
  for (const [kind, references] of referencesOf(state))
    for (const { baseVersion, nonce } of references.values()) yield { kind, baseVersion, nonce };
}

/** What `before` names and `next` doesn't. */
export function* droppedBetween(
  before: QueueState,
  next: QueueState,
): Generator<NamedObject, void, undefined> {
  const kept = referencesOf(next);
  for (const [kind, references] of referencesOf(before)) {
    const still: ReadonlyMap<string, unknown> | undefined = kept.get(kind);
    if (still === references) continue;
    for (const [id, { baseVersion, nonce }] of references)
      if (!still?.has(id)) yield { kind, baseVersion, nonce };
  }
}

type References = ReadonlyMap<string, { readonly baseVersion: number; readonly nonce: string }>;

function referencesOf(state: QueueState): ReadonlyMap<ObjectKeyParts['kind'], References> {
  const pages = pageKinds.map((kind) => [kind, state[`${kind}Pages`]] as const);
  return new Map<ObjectKeyParts['kind'], References>([['seg', state.segments], ...pages]);
}
