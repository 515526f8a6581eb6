/**
 * The counts of a queue, with the pages loaded that they rest on. Of a page that can't be read the manifest tells how
 * many it holds and between which times they become visible: then counts are estimates, and say so.
 */
import { countMessages, type QueueCounts } from '../core/counts.ts';
import { type PageContents, type PageKind, PageReader } from '../core/pages.ts';
import type { PageId, QueueState } from '../core/queue-state.ts';
import type { EngineContext } from './context.ts';
import { type NotLoaded, whyNotLoaded } from './immutable-cache.ts';
import { loadPage } from './load-page.ts';
import type { ObservedQueue } from './manifest-register.ts';

type Page = PageContents[PageKind];

export interface CountedQueue {
  readonly state: QueueState;
  readonly counts: QueueCounts;
  /** How the total divides is a guess. */
  readonly estimated: boolean;
}

/** A collector that takes a page between each manifest and its pages would be too quick by far. */
const roundsMax = 3;

interface Count {
  readonly counts: QueueCounts;
  readonly failed: ReadonlyMap<PageId, NotLoaded>;
  /** Something was not to be read, or was read and is not what the state names. */
  readonly unreadable: boolean;
}

/** `read` gives the newest manifest; undefined when there is no such queue. */
export async function countWithPages(
  context: EngineContext,
  name: string,
  read: () => Promise<ObservedQueue | undefined>,
): Promise<CountedQueue | undefined> {
  let rounds = 0;
  let missed: ReadonlySet<PageId> = new Set();
  for (;;) {
    const observed = await read();
    if (!observed) return undefined;
    const { state } = observed;
    const { counts, failed, unreadable } = await count(context, name, state);
    const missing = [...failed].flatMap(([id, { kind }]) => (kind === 'missing' ? [id] : []));
    // What is missing is lost when a manifest read after still names it; else the collector rightly took it.
    if (missing.some((id) => !missed.has(id)) && rounds++ < roundsMax) {
      missed = new Set(missing);
      continue;
    }
    for (const [page, result] of failed) report(context, name, page, result);
    if (unreadable && failed.size === 0)
      context.environment.log.error('a page is not the one that its queue names; counts are estimates', {
        queue: name,
      });
    return { state, counts, estimated: unreadable };
  }
}

async function count(context: EngineContext, name: string, state: QueueState): Promise<Count> {
  const { incarnation } = state;
  const loaded = new Map<PageId, Page>();
  const failed = new Map<PageId, NotLoaded>();
  const reader = () =>
    new PageReader(<K extends PageKind>(_kind: K, id: PageId) =>
      failed.has(id) ? 'unreadable' : ((loaded.get(id) as PageContents[K] | undefined) ?? 'needed'),
    );
  const { lowerMillis, stampMillis, nowMillis } = context.time.bounds();
  const at = { nowMillis, stampMillis, manifestMillis: Math.max(state.timeMillis, lowerMillis) };
  for (;;) {
    const read = reader();
    const counts = countMessages(state, at, read);
    if (read.needed.size === 0) return { counts, failed, unreadable: read.unreadable };
    await Promise.all(
      [...read.needed].map(async ([id, kind]) => {
        const reference = state[`${kind}Pages`].get(id)!;
        const result = await loadPage(context, { name, incarnation }, kind, reference);
        if (result.kind === 'loaded') loaded.set(id, result.value);
        else failed.set(id, result);
      }),
    );
  }
}

function report(
  { counters, environment }: EngineContext,
  queue: string,
  page: PageId,
  result: NotLoaded,
): void {
  if (result.kind !== 'failed') counters.unreadablePages++;
  const reason = whyNotLoaded(result);
  const message = 'a page cannot be read; the counts of its queue are estimates';
  environment.log[result.kind === 'failed' ? 'warn' : 'error'](message, { queue, page, reason });
}
