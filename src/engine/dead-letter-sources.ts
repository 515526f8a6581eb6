/**
 * Which queues have this one as their dead-letter queue: what ListDeadLetterSourceQueues asks. Nothing but the sources'
 * own policies tells, so this is a LIST of the manifests and a read of each.
 *
 * - True on any node: a manifest counts by a read, or by the tag of a LIST, that began after the call. What was read
 *   once is known as long as its tag is (a tag never comes twice), so looking again costs the LIST and what changed.
 *   Where the store's LIST tells no honest tags, each is read by its tag, which the store answers without the manifest.
 * - Bounded: so many reads at once, for the whole process, and so many for one call. The call then ends early and says
 *   where to go on; whoever asks for the same again finds known what was read for it.
 */

import { resolveAttributes } from '../core/queue-attributes.ts';
import { namesQueue } from '../core/redrive-policy.ts';
import { isTombstoneSize } from '../format/manifest-codec.ts';
import { manifestKey, manifestsPrefix, queueNameOfManifestKey } from '../format/object-keys.ts';
import type { ETag, ListPage } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';
import { ManifestRegister } from './manifest-register.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { type DeadLetterSources, type DeadLetterSourcesRequest, Unavailable } from './queue-api.ts';
import { sourceReadsAtOnce, sourceReadsMax, sourcesKnownMax } from './settings.ts';

interface Known {
  readonly etag: ETag;
  /** ARN of its dead-letter queue; undefined: it has none, or is no queue any more. */
  readonly target: string | undefined;
}

interface Listed {
  readonly name: string;
  readonly etag: ETag;
}

interface Search {
  readonly deadLetterQueue: string;
  readonly request: DeadLetterSourcesRequest;
  readonly found: string[];
  reads: number;
  /** Looked at last. */
  last: string | undefined;
}

export class DeadLetterSourceFinder {
  readonly #context: EngineContext;
  readonly #stop: AbortSignal;
  /** A manifest may be a megabyte, and a call reads many. */
  readonly #calls = new OneAtATime();
  /** By name, the latest looked at last. */
  readonly #known = new Map<string, Known>();

  constructor(context: EngineContext, stop: AbortSignal) {
    this.#context = context;
    this.#stop = stop;
  }

  /** @throws StoreError, Unavailable */
  find(deadLetterQueue: string, request: DeadLetterSourcesRequest): Promise<DeadLetterSources> {
    return this.#calls.run(() =>
      this.#find({ deadLetterQueue, request, found: [], reads: 0, last: undefined }),
    );
  }

  async #find(search: Search): Promise<DeadLetterSources> {
    const { request, found } = search;
    let startAfter = request.startAfter === undefined ? manifestsPrefix : manifestKey(request.startAfter);
    for (;;) {
      if (this.#stop.aborted) throw new Unavailable('this node is stopping');
      const page = await this.#context.environment.store.list({ prefix: manifestsPrefix, startAfter });
      const stopped = await this.#look(search, queuesOf(page));
      const last = page.objects.at(-1)?.key;
      if (stopped || !page.truncated || last === undefined)
        return { kind: 'sources', names: found, resumeAfter: undefined, endedEarly: false, ...stopped };
      startAfter = last;
    }
  }

  /** Where to go on when enough was found or read; undefined when all were looked at. */
  async #look(
    search: Search,
    listed: readonly Listed[],
  ): Promise<Pick<DeadLetterSources, 'resumeAfter' | 'endedEarly'> | undefined> {
    const { request, found } = search;
    const { accountId, region } = this.#context.settings;
    const queue = { accountId, region, name: search.deadLetterQueue };
    for (let at = 0; at < listed.length; at += sourceReadsAtOnce) {
      if (search.reads >= sourceReadsMax) return { resumeAfter: search.last, endedEarly: true };
      const some = listed.slice(at, at + sourceReadsAtOnce);
      const targets = await Promise.all(some.map((each) => this.#target(each, search)));
      for (const [index, { name }] of some.entries()) {
        const target = targets[index];
        if (target !== undefined && namesQueue(target, queue)) {
          // One more than asked for is there.
          if (found.length === request.limit) return { resumeAfter: found.at(-1), endedEarly: false };
          found.push(name);
        }
        search.last = name;
      }
    }
    return undefined;
  }

  async #target({ name, etag }: Listed, search: Search): Promise<string | undefined> {
    const known = this.#known.get(name);
    if (known?.etag === etag && this.#context.settings.listTags) return this.#keep(name, known);
    search.reads++;
    const read = await new ManifestRegister(this.#context.environment, name).read(known?.etag);
    if (read.kind === 'unchanged') return known && this.#keep(name, known);
    if (read.kind === 'absent' || read.content.kind !== 'queue') {
      this.#known.delete(name);
      return undefined;
    }
    const { redrivePolicy } = resolveAttributes(read.content.state.attributes);
    return this.#keep(name, { etag: read.etag, target: redrivePolicy?.deadLetterTargetArn });
  }

  #keep(name: string, known: Known): string | undefined {
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size > sourcesKnownMax) this.#known.delete(this.#known.keys().next().value!);
    return known.target;
  }
}

/** Tombstones are told by their size. */
function queuesOf(page: ListPage): Listed[] {
  return page.objects.flatMap(({ key, bytes, etag }) => {
    const name = queueNameOfManifestKey(key);
    return name === undefined || isTombstoneSize(bytes) ? [] : [{ name, etag }];
  });
}
