/**
 * Which segments to put together, or to rewrite without their dead: by what the manifest says alone.
 *
 * Cold   small, and nobody takes from them: neighbours, until they add up to one object of the full size, so that each
 *        message is copied about once in its life. Not at the head of the queue, from where consumers take next.
 * Sparse under a quarter live: several together, wherever they are, when that sets enough bytes free.
 *
 * Bytes are guessed by counts. What is put together has about one age, since a segment ends with its youngest message.
 */
import type { QueueLimits } from './limits.ts';
import { mayBePaged } from './pages.ts';
import { resolveAttributes } from './queue-attributes.ts';
import type { QueueState, Run, SegmentId, SegmentReference } from './queue-state.ts';
import { countWithin } from './range-set.ts';

/**
 * Since when the live count of a segment has not changed: `moving`, not for long; `settled`, longer than messages lie
 * when consumers keep up; `still`, so long that even messages in flight or delayed may be called at rest.
 */
export type Standing = 'moving' | 'settled' | 'still';

/** Under this share of live messages a segment is sparse. */
const sparseShare = 1 / 4;
/** Together no more than so many full objects are read for one. */
const readFactorMax = 4;
/** Nothing fuller than this share of an object is small. */
const smallShare = 1 / 2;
/** The last of a row are put together when they come to this share of an object; else they wait for more. */
const fullShare = 3 / 4;
/** Ages in one object differ by at most this share of the retention. */
const agesShare = 1 / 4;

interface Candidate {
  readonly id: SegmentId;
  readonly reference: SegmentReference;
  readonly firstSequence: number;
  /** About. */
  readonly liveBytes: number;
}

/** At least two cold ones, or sparse ones; undefined: nothing is worth it now. */
export function chooseCompaction(
  state: QueueState,
  limits: Pick<QueueLimits, 'compactedBytesMax'>,
  standingOf: (id: SegmentId) => Standing,
): readonly SegmentId[] | undefined {
  const candidates = [...state.segments].map(([id, reference]) => candidateOf(state, id, reference));
  candidates.sort((a, b) => a.firstSequence - b.firstSequence);
  const chosen =
    chooseCold(state, candidates, limits.compactedBytesMax, standingOf) ??
    chooseSparse(state, candidates, limits.compactedBytesMax, standingOf);
  return chosen?.map(({ id }) => id);
}

export function isSparse(reference: SegmentReference): boolean {
  return reference.liveCount < sparseShare * bodyCountOf(reference);
}

export function bodyCountOf({ bodyCount, runs }: SegmentReference): number {
  return bodyCount ?? runs.reduce((sum, { count }) => sum + count, 0);
}

function candidateOf(state: QueueState, id: SegmentId, reference: SegmentReference): Candidate {
  // Its dead can't be told from what is in pages, and are copied too.
  const share = reference.runs.some((run) => isPaged(state, run))
    ? 1
    : reference.liveCount / bodyCountOf(reference);
  const liveBytes = Math.ceil(reference.bytes * share);
  return { id, reference, firstSequence: reference.runs[0]!.firstSequence, liveBytes };
}

/** Collects candidates to one object. */
class Group {
  readonly members: Candidate[] = [];
  liveBytes = 0;
  readBytes = 0;
  readonly #bytesMax: number;
  readonly #agesMillisMax: number;
  #oldest = Number.POSITIVE_INFINITY;
  #youngest = 0;

  constructor(state: QueueState, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#agesMillisMax = resolveAttributes(state.attributes).retentionSeconds * 1000 * agesShare;
  }

  /** False: this one does not fit in any more. */
  add(candidate: Candidate): boolean {
    const { liveBytes, reference } = candidate;
    const oldest = Math.min(this.#oldest, reference.sentAtMaxMillis);
    const youngest = Math.max(this.#youngest, reference.sentAtMaxMillis);
    if (
      this.members.length > 0 &&
      (this.liveBytes + liveBytes > this.#bytesMax ||
        this.readBytes + reference.bytes > readFactorMax * this.#bytesMax ||
        youngest - oldest > this.#agesMillisMax)
    )
      return false;
    this.members.push(candidate);
    this.liveBytes += liveBytes;
    this.readBytes += reference.bytes;
    this.#oldest = oldest;
    this.#youngest = youngest;
    return true;
  }
}

function chooseCold(
  state: QueueState,
  candidates: readonly Candidate[],
  bytesMax: number,
  standingOf: (id: SegmentId) => Standing,
): readonly Candidate[] | undefined {
  let group = new Group(state, bytesMax);
  let headBytes = 0;
  let between = 0;
  const isFull = (share: number) => group.members.length > 1 && group.liveBytes >= share * bytesMax;
  for (const candidate of candidates) {
    const inHead = headBytes < bytesMax;
    headBytes += candidate.liveBytes;
    if (inHead) continue;
    if (candidate.liveBytes > smallShare * bytesMax || !isCold(state, candidate, standingOf(candidate.id))) {
      between += candidate.liveBytes;
      continue;
    }
    // Who reads the one would not read the other soon.
    const neighbours = between <= bytesMax;
    between = 0;
    if (neighbours && group.add(candidate)) continue;
    if (isFull(smallShare)) return group.members;
    group = new Group(state, bytesMax);
    group.add(candidate);
  }
  return isFull(fullShare) ? group.members : undefined;
}

function isCold({ ready }: QueueState, { reference }: Candidate, standing: Standing): boolean {
  if (standing !== 'settled') return standing === 'still';
  let readyCount = 0;
  for (const { firstSequence, count } of reference.runs)
    readyCount += countWithin(ready, firstSequence, firstSequence + count);
  return readyCount === reference.liveCount;
}

function isPaged(state: QueueState, { firstSequence, count }: Run): boolean {
  return mayBePaged(state, firstSequence, firstSequence + count);
}

function chooseSparse(
  state: QueueState,
  candidates: readonly Candidate[],
  bytesMax: number,
  standingOf: (id: SegmentId) => Standing,
): readonly Candidate[] | undefined {
  let group = new Group(state, bytesMax);
  const isWorthIt = () => group.readBytes - group.liveBytes >= smallShare * bytesMax;
  for (const candidate of candidates) {
    if (!isSparse(candidate.reference) || standingOf(candidate.id) === 'moving') continue;
    // Its dead can't be told from what is in pages: it would be as sparse again.
    if (candidate.reference.runs.some((run) => isPaged(state, run))) continue;
    if (group.add(candidate)) continue;
    if (isWorthIt()) return group.members;
    group = new Group(state, bytesMax);
    group.add(candidate);
  }
  return isWorthIt() ? group.members : undefined;
}
