/**
 * What one batch has loaded and uploaded so far: bodies, pages, targets and sources of moves, prepared segments and
 * pages. Serves the transition, and fetches what it says it needs.
 */
import { resolveFifo } from '../core/fifo-attributes.ts';
import type { Incarnation } from '../core/ids.ts';
import { namesPage, type PageContents, type PageKind } from '../core/pages.ts';
import {
  type PageId,
  pageIdOf,
  type QueueState,
  type SegmentId,
  type SegmentReference,
  segmentIdOf,
} from '../core/queue-state.ts';
import { pendingNumbers } from '../core/redrive.ts';
import type {
  MoveSourceView,
  MoveTarget,
  Needs,
  NewPage,
  PreparedPage,
  PreparedSegment,
  Resources,
  SpillMessage,
} from '../core/resources.ts';
import type { ObjectKind } from '../format/object-keys.ts';
import { encodePage } from '../format/page-codec.ts';
import type { DecodedSegment } from '../format/segment-codec.ts';
import { encodeSegment } from '../format/segment-codec.ts';
import { keptPageBytes } from './caches.ts';
import { type LoadResult, type NotLoaded, whyNotLoaded } from './immutable-cache.ts';
import { loadPage } from './load-page.ts';
import { ManifestRegister } from './manifest-register.ts';
import { Unavailable } from './queue-api.ts';
import type { QueueView } from './queue-view.ts';
import { uploadObject } from './upload-object.ts';

export class BatchResources implements Resources {
  readonly prepared: PreparedSegment[] = [];
  readonly preparedPages: PreparedPage[] = [];
  readonly #view: QueueView;
  readonly #segments = new Map<SegmentId, DecodedSegment | 'unreadable'>();
  readonly #pages = new Map<PageId, PageContents[PageKind] | 'unreadable'>();
  /**
   * Read after `#targetsVersion` was observed; void for any later state †: the link to a target may be forgotten in one, since that
   * is gone, and an intent that is made with what was known before would begin its numbers anew:
   *   1. a batch reads its target; the target is deleted, with intent 1 appended; a mover stalls before it resolves that one;
   *   2. another mover resolves intent 1; the target is found gone and the link is forgotten, by which the batch's swap fails;
   *   3. the batch applies its commands to the new state, and gives another message to that target: intent 1 once more;
   *   4. the stalled mover resolves intent 1: that message is lost.
   */
  readonly #targets = new Map<string, MoveTarget>();
  #targetsVersion = 0;
  /** Read after `#sourcesVersion` was observed; void for any later state †. */
  readonly #sources = new Map<Incarnation, MoveSourceView>();
  #sourcesVersion = 0;

  constructor(view: QueueView) {
    this.#view = view;
  }

  readonly body: Resources['body'] = (segment, ordinal) => {
    const { context, incarnation } = this.#view;
    const loaded = this.#segments.get(segment) ?? context.bodies.get(incarnation, 'seg', segment);
    if (!loaded) return 'needed';
    return loaded === 'unreadable' ? 'unreadable' : (loaded.message(ordinal) ?? 'unreadable');
  };

  readonly groups: Resources['groups'] = (segment) => {
    const { context, incarnation } = this.#view;
    const known = context.groups.get(incarnation, segment);
    if (known) return known;
    const loaded = this.#segments.get(segment) ?? context.bodies.get(incarnation, 'seg', segment);
    if (!loaded) return 'needed';
    return loaded === 'unreadable'
      ? 'unreadable'
      : context.groups.keep(incarnation, segment, loaded.groupIds());
  };

  readonly page = <K extends PageKind>(kind: K, id: PageId): PageContents[K] | 'needed' | 'unreadable' => {
    const { context, incarnation } = this.#view;
    const loaded = this.#pages.get(id) ?? context.pages.get(incarnation, kind, id);
    return (loaded as PageContents[K] | 'unreadable' | undefined) ?? 'needed';
  };

  readonly target: Resources['target'] = (queueName) =>
    this.#targetsVersion === this.#view.current.state.version ? this.#targets.get(queueName) : undefined;

  readonly source: Resources['source'] = (incarnation) =>
    this.#sourcesVersion === this.#view.current.state.version ? this.#sources.get(incarnation) : undefined;

  /**
   * `stale`: an object is gone that this view's state names, so the view must be refreshed first.
   * @throws StoreError, Unavailable
   */
  async fetch(needs: Needs): Promise<'ready' | 'stale'> {
    const [segments, pages] = await Promise.all([
      this.#loadSegments(new Set([...needs.segments, ...needs.groups])),
      this.#loadPages(needs.pages),
      this.#readTargets(needs.targets),
      this.#readSources(needs.sources),
      ...needs.spills.map((messages) => this.#uploadSegment(messages)),
      ...needs.newPages.map((page) => this.#uploadPage(page)),
    ]);
    return segments === 'stale' || pages === 'stale' ? 'stale' : 'ready';
  }

  async #loadSegments(ids: ReadonlySet<SegmentId>): Promise<'ready' | 'stale'> {
    const { context, current, name, incarnation } = this.#view;
    const loading = [...ids].map(async (id) => {
      const reference = this.#segmentReference(current.state, id);
      if (!reference) throw new Error(`segment ${id} is needed but not named`);
      const { baseVersion, nonce } = reference;
      return {
        id,
        result: await context.bodies.load({ name, incarnation, kind: 'seg', baseVersion, nonce }),
      };
    });
    const results = await Promise.all(loading);
    if (await this.#haveMovedOn(results, (state, id) => this.#segmentReference(state, id) !== undefined))
      return 'stale';
    for (const { id, result } of results) {
      this.#segments.set(id, result.kind === 'loaded' ? result.value : 'unreadable');
      if (result.kind === 'loaded') continue;
      if (result.kind !== 'failed') context.counters.unreadableBodies++;
      this.#report('a segment cannot be read; its messages are passed over, not dropped', id, result);
    }
    return 'ready';
  }

  /** Named by the state, directly or through a page that has been read. */
  #segmentReference(state: QueueState, id: SegmentId): SegmentReference | undefined {
    const reference = state.segments.get(id);
    if (reference) return reference;
    for (const pageId of state.segmentsPages.keys()) {
      const content = this.page('segments', pageId);
      const inPage = typeof content === 'string' ? undefined : content.get(id);
      if (inPage) return inPage;
    }
    return undefined;
  }

  async #loadPages(pages: ReadonlyMap<PageId, PageKind>): Promise<'ready' | 'stale'> {
    const { context, current, name, incarnation } = this.#view;
    const loading = [...pages].map(async ([id, kind]) => {
      const reference = current.state[`${kind}Pages`].get(id);
      if (!reference) throw new Error(`page ${id} is needed but not named`);
      return { id, result: await loadPage(context, { name, incarnation }, kind, reference) };
    });
    const results = await Promise.all(loading);
    if (await this.#haveMovedOn(results, namesPage)) return 'stale';
    for (const { id, result } of results) {
      this.#pages.set(id, result.kind === 'loaded' ? result.value : 'unreadable');
      if (result.kind === 'loaded') continue;
      if (result.kind !== 'failed') context.counters.unreadablePages++;
      this.#report('a page cannot be read; what it holds stays as it is', id, result);
    }
    return 'ready';
  }

  /**
   * A 404 is corruption only when a manifest read after it still names the object: a stale view may name what the
   * collector has rightly deleted since. Segments and pages are loaded side by side: whichever misses one first reads.
   */
  async #haveMovedOn<Id>(
    results: readonly { readonly id: Id; readonly result: LoadResult<unknown> }[],
    named: (state: QueueState, id: Id) => boolean,
  ): Promise<boolean> {
    const missing = results.filter(({ result }) => result.kind === 'missing');
    if (missing.length === 0) return false;
    const result = await this.#view.refresh();
    return result.kind === 'ended' || missing.some(({ id }) => !named(this.#view.current.state, id));
  }

  #report(message: string, id: string, result: NotLoaded): void {
    const { context, name, incarnation } = this.#view;
    const reason = whyNotLoaded(result);
    const level = result.kind === 'failed' ? 'warn' : 'error';
    context.environment.log[level](message, { queue: name, incarnation, object: id, reason });
  }

  async #readTargets(names: ReadonlySet<string>): Promise<void> {
    if (names.size === 0) return;
    const { version } = this.#view.current.state;
    if (this.#targetsVersion !== version) this.#targets.clear();
    this.#targetsVersion = version;
    await Promise.all(
      [...names].map(async (name) => {
        // A queue may name itself as its dead-letter queue: nothing moves then.
        const target: MoveTarget =
          name === this.#view.name ? { kind: 'missing' } : await this.#readTarget(name);
        this.#targets.set(name, target);
      }),
    );
  }

  /** One that can't be read keeps its letters waiting, and nothing else. */
  async #readTarget(name: string): Promise<MoveTarget> {
    const { environment } = this.#view.context;
    try {
      const observed = await new ManifestRegister(environment, name).readQueue();
      return observed ? { kind: 'present', incarnation: observed.state.incarnation } : { kind: 'missing' };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      environment.log.warn('a queue that messages go to cannot be read', { queue: name, error });
      return { kind: 'unreadable' };
    }
  }

  async #readSources(names: ReadonlyMap<Incarnation, string>): Promise<void> {
    if (names.size === 0) return;
    const { version } = this.#view.current.state;
    if (this.#sourcesVersion !== version) this.#sources.clear();
    this.#sourcesVersion = version;
    await Promise.all(
      [...names].map(async ([incarnation, name]) => {
        const observed = await new ManifestRegister(this.#view.context.environment, name).readQueue();
        const view: MoveSourceView =
          observed?.state.incarnation === incarnation
            ? { kind: 'present', pending: pendingNumbers(observed.state.intents, this.#view.incarnation) }
            : { kind: 'gone' };
        this.#sources.set(incarnation, view);
      }),
    );
  }

  async #uploadSegment(messages: readonly SpillMessage[]): Promise<void> {
    const { context, current, incarnation } = this.#view;
    const bytes = encodeSegment(
      incarnation,
      messages.map((entry) => entry.message),
    );
    const named = await this.#upload('seg', bytes);
    context.counters.spilledSegments++;
    const id = segmentIdOf(named);
    if (resolveFifo(current.state.attributes))
      context.groups.keep(
        incarnation,
        id,
        messages.map(({ message }) => message.groupId),
      );
    this.prepared.push({ id, ...named, bytes: bytes.length, messages });
  }

  async #uploadPage(page: NewPage): Promise<void> {
    const { context, name, incarnation } = this.#view;
    const { kind, content } = page;
    const bytes = encodePage(incarnation, page);
    const named = await this.#upload(kind, bytes);
    context.counters.writtenPages++;
    context.pages.keep({ name, incarnation, kind, ...named }, content, keptPageBytes(kind, bytes.length));
    this.preparedPages.push({ ...page, id: pageIdOf(named), ...named });
  }

  #upload(kind: ObjectKind, bytes: Uint8Array): ReturnType<typeof uploadObject> {
    const { context, current, name, incarnation } = this.#view;
    const baseVersion = current.state.version;
    return uploadObject(context.environment, { name, incarnation, kind, baseVersion }, bytes);
  }
}
