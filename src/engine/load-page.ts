/** A page that a state names, from this process's cache or the store; one that is another's counts as damaged. */
import { isPageOf } from '../core/page-belongs.ts';
import type { PageContents, PageKind, PageReferences } from '../core/pages.ts';
import type { ObjectKeyParts } from '../format/object-keys.ts';
import type { EngineContext } from './context.ts';
import type { LoadResult } from './immutable-cache.ts';

export async function loadPage<K extends PageKind>(
  context: EngineContext,
  queue: Pick<ObjectKeyParts, 'name' | 'incarnation'>,
  kind: K,
  reference: PageReferences[K],
): Promise<LoadResult<PageContents[PageKind]>> {
  const { baseVersion, nonce } = reference;
  const result = await context.pages.load({ ...queue, kind, baseVersion, nonce });
  if (result.kind !== 'loaded' || isPageOf(kind, result.value as PageContents[K], reference)) return result;
  return { kind: 'damaged', reason: 'it is not the page that its reference was made for' };
}
