/**
 * The counts of a queue, with the pages loaded that they rest on. Of a page that can't be read the manifest tells how
 * many it holds and between which times they become visible: then counts are estimates, and say so.
 */
import { countMessages, type QueueCounts } from '../core/counts.ts';
import type { TransitionTime } from '../core/draft.ts';
import { type PageContents, type PageKind, PageReader } from '../core/pages.ts';
import type { PageId, QueueState } from '../core/queue-state.ts';
import type { EngineContext } from './context.ts';

export interface CountedQueue extends QueueCounts {
  /** A page could not be read: how the total divides is a guess. */
  readonly estimated: boolean;
  /** The store has no such page: it is lost, or the state is stale. */
  readonly missing: boolean;
}

export async function countWithPages(
  { pages, counters, environment }: EngineContext,
  name: string,
  state: QueueState,
  time: TransitionTime,
): Promise<CountedQueue> {
  const { incarnation } = state;
  const loaded = new Map<PageId, PageContents[PageKind] | 'unreadable'>();
  let missing = false;
  let estimated = false;
  for (;;) {
    const reader = new PageReader(
      <K extends PageKind>(_kind: K, id: PageId) =>
        (loaded.get(id) as PageContents[K] | 'unreadable' | undefined) ?? 'needed',
    );
    const counts = countMessages(state, time, reader);
    if (reader.needed.size === 0) return { ...counts, estimated, missing };
    await Promise.all(
      [...reader.needed].map(async ([id, kind]) => {
        const { baseVersion, nonce } = state[`${kind}Pages`].get(id)!;
        const result = await pages.load({ name, incarnation, kind, baseVersion, nonce });
        loaded.set(id, result.kind === 'loaded' ? result.value : 'unreadable');
        if (result.kind === 'loaded') return;
        estimated = true;
        if (result.kind === 'missing') missing = true;
        if (result.kind === 'damaged') counters.unreadablePages++;
        const reason = result.kind === 'missing' ? 'the store has no such object' : result.reason;
        const fields = { queue: name, incarnation, kind, page: id, reason };
        environment.log.warn('a page cannot be read; the counts of its queue are estimates', fields);
      }),
    );
  }
}
