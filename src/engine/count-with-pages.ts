/** The counts of a queue, with the pages loaded that they rest on; of those that can't be read they are estimates. */
import { countMessages, type QueueCounts } from '../core/counts.ts';
import type { TransitionTime } from '../core/draft.ts';
import { type PageContents, type PageKind, PageReader } from '../core/pages.ts';
import type { PageId, QueueState } from '../core/queue-state.ts';
import type { EngineContext } from './context.ts';

export async function countWithPages(
  { pages }: EngineContext,
  name: string,
  state: QueueState,
  time: TransitionTime,
): Promise<QueueCounts> {
  const { incarnation } = state;
  const loaded = new Map<PageId, PageContents[PageKind] | 'unreadable'>();
  for (;;) {
    const reader = new PageReader(
      <K extends PageKind>(_kind: K, id: PageId) =>
        (loaded.get(id) as PageContents[K] | 'unreadable' | undefined) ?? 'needed',
    );
    const counts = countMessages(state, time, reader);
    if (reader.needed.size === 0) return counts;
    await Promise.all(
      [...reader.needed].map(async ([id, kind]) => {
        const { baseVersion, nonce } = state[`${kind}Pages`].get(id)!;
        const result = await pages.load({ name, incarnation, kind, baseVersion, nonce });
        loaded.set(id, result.kind === 'loaded' ? result.value : 'unreadable');
      }),
    );
  }
}
