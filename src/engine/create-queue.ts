/**
 * CreateQueue: absent → create; tombstone → a fresh incarnation in its place; a queue → compare attributes and tags that are given. Every
 * try draws a new incarnation, so that a late copy of an earlier one can't be taken for this one (DESIGN.md section 2).
 */
import { incarnationBytes, incarnationFrom } from '../core/ids.ts';
import { differingAttribute, type QueueAttributes } from '../core/queue-attributes.ts';
import { newQueueState, type QueueState } from '../core/queue-state.ts';
import { hasAllTags, type QueueTags } from '../core/queue-tags.ts';
import type { ETag } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';
import { ManifestRegister, type ObservedQueue } from './manifest-register.ts';
import { type CreateQueueOutcome, Unavailable } from './queue-api.ts';
import { cooldownMillis } from './settings.ts';

/** Lost races in a row before the caller is told to come back: each means that somebody else got ahead. */
const triesMax = 10;

export interface Creation {
  readonly outcome: CreateQueueOutcome;
  /** The queue that is there now, when this call saw it. */
  readonly observed: ObservedQueue | undefined;
}

/** @throws StoreError, Unavailable */
export async function createQueue(
  context: EngineContext,
  name: string,
  attributes: QueueAttributes,
  tags: QueueTags = new Map(),
): Promise<Creation> {
  const register = new ManifestRegister(context.environment, name);
  for (let tries = 0; tries < triesMax; tries++) {
    const found = await register.read();
    if (found.kind === 'present' && found.content.kind === 'queue')
      return compared(
        { state: found.content.state, etag: found.etag, observedFrom: found.observedFrom },
        attributes,
        tags,
      );
    const tombstone =
      found.kind === 'present' && found.content.kind === 'tombstone' ? found.content.tombstone : undefined;
    if (
      tombstone &&
      context.settings.cooldowns &&
      context.time.bounds().nowMillis < tombstone.deletedAtMillis + cooldownMillis
    )
      return { outcome: { kind: 'deleted-recently' }, observed: undefined };
    const expected = found.kind === 'present' ? found.etag : undefined;
    const creation = await tryOnce(context, register, expected, attributes, tags);
    if (creation) return creation;
  }
  throw new Unavailable(`queue ${name} is being created and deleted by others`);
}

function compared(observed: ObservedQueue, given: QueueAttributes, tags: QueueTags): Creation {
  const attribute = differingAttribute(observed.state.attributes, given);
  if (attribute !== undefined) return { outcome: { kind: 'differs', attribute }, observed };
  return { outcome: { kind: hasAllTags(observed.state.tags, tags) ? 'exists' : 'tags-differ' }, observed };
}

/** Undefined: somebody got ahead, look again. */
async function tryOnce(
  context: EngineContext,
  register: ManifestRegister,
  expected: ETag | undefined,
  attributes: QueueAttributes,
  tags: QueueTags,
): Promise<Creation | undefined> {
  const state = freshState(context, attributes, tags);
  const result = await register.swap(expected, { kind: 'queue', state });
  if (result.kind === 'done')
    return {
      outcome: { kind: 'created' },
      observed: { state, etag: result.etag, observedFrom: result.observedFrom },
    };
  // A lost swap can be our own success seen twice: read before anything else.
  const after = await register.read();
  if (after.kind === 'present' && after.content.kind === 'queue') {
    const observed = { state: after.content.state, etag: after.etag, observedFrom: after.observedFrom };
    if (after.content.state.incarnation !== state.incarnation) return compared(observed, attributes, tags);
    return { outcome: { kind: 'created' }, observed };
  }
  if (
    after.kind === 'present' &&
    after.content.kind === 'tombstone' &&
    after.content.tombstone.buriedIncarnation === state.incarnation
  )
    return { outcome: { kind: 'created' }, observed: undefined };
  // Unknown, and not to be seen: it may still land. Another try could only add to the confusion.
  if (result.kind === 'unknown') throw new Unavailable(`it is not known whether the queue was created`);
  return undefined;
}

function freshState(context: EngineContext, attributes: QueueAttributes, tags: QueueTags): QueueState {
  const { lowerMillis, stampMillis } = context.time.bounds();
  return newQueueState({
    incarnation: incarnationFrom(context.environment.random.bytes(incarnationBytes)),
    attributes,
    tags,
    // 0 while unconfirmed: manifest time can't go back, so a store that lies once must not set it.
    timeMillis: lowerMillis,
    stampMillis,
  });
}
