/**
 * What one seed plays: drawn as a swarm, so that each seed has some faults and shapes to the full and others not at
 * all. Printed in full with every failure.
 */
import { type QueueLimits, queueLimits } from '../../src/core/limits.ts';
import type { EngineSettings, EngineTiming } from '../../src/engine/settings.ts';
import type { FairConfig } from './fair-weather.ts';
import type { FifoConfig } from './fifo.ts';
import { focuses, focusOf } from './focus.ts';
import { Prng } from './prng.ts';

export const accountId = '000000000000';
export const region = 'us-east-1';

/** Probabilities per store request, unless said otherwise. 0: switched off for this seed. */
export interface FaultRates {
  /** It took effect, and the answer comes late: a writer stalls between its upload and its swap. */
  readonly slowAnswer: number;
  readonly requestLost: number;
  readonly responseLost: number;
  /** Told unknown, lands later. */
  readonly late: number;
  /** Lands, and a copy lands later. */
  readonly duplicate: number;
  /** A proxy sent it twice at once: the second answer is heard. */
  readonly doubled: number;
  /** A proxy asked again after a while, and the second answer is heard. */
  readonly retried: number;
  readonly throttled: number;
  /** 500 after it landed. */
  readonly errorAfter: number;
  /** 409 for a conditional write that never took effect. */
  readonly refused: number;
  readonly readFailed: number;
  /** Per page and spell of a few seconds: whoever reads that page then fails. */
  readonly pageFailed: number;
  /** The same of segments. */
  readonly bodyFailed: number;
  readonly stalledBody: number;
  /** RequestTimeTooSkewed: a signing clock that is off; nothing landed, also after its correction. */
  readonly skewed: number;
  /** The `Date` of an answer lies, by up to a day. */
  readonly lie: number;
  /** An answer with an `Age`, as if from a cache: its `Date` counts for nothing, so it has no clock. */
  readonly aged: number;
  /** `Last-Modified` of a read lies: by up to a day of an object, within half its age of a tombstone. */
  readonly modified: number;
  /** Per await on the environment. */
  readonly kill: number;
  readonly pause: number;
  /** Per client call: the answer is lost, or the client hangs up. */
  readonly answerLost: number;
  readonly hangUp: number;
}

export interface NodeConfig {
  /** Medians of a request there and back, milliseconds. */
  readonly putMillis: number;
  readonly getMillis: number;
  readonly skewMillis: number;
  readonly driftPpm: number;
  /** The wall clock steps at these rates per minute by up to an hour. */
  readonly stepsPerMinute: number;
}

export interface QueueConfig {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly deadLetterTo: string | undefined;
  /** Only in a weather of its own (groups-weather.ts). */
  readonly fifo?: FifoConfig;
  /** Of a standard queue; only in a weather of its own (fair-weather.ts). */
  readonly fair?: FairConfig;
  /** Message move tasks out of it, likewise (tasks-weather.ts). */
  readonly tasks?: {
    readonly destinations: readonly (string | undefined)[];
    readonly rates: readonly (number | undefined)[];
  };
}

export type ClientAction = 'send' | 'receive' | 'settle' | 'attributes' | 'purge' | 'recreate' | 'look';
export type ClientWeights = Readonly<Record<ClientAction, number>> & { readonly task?: number };

export interface ClientConfig {
  readonly home: number;
  readonly roams: boolean;
  readonly thinkMillis: number;
  readonly weights: ClientWeights;
  readonly deletes: number;
}

export interface SimConfig {
  readonly seed: string;
  readonly calls: number;
  readonly nodes: readonly NodeConfig[];
  readonly queues: readonly QueueConfig[];
  readonly clients: readonly ClientConfig[];
  readonly faults: FaultRates;
  readonly outagesPerMinute: number;
  readonly outageMillisMax: number;
  /** Spells in which a node's requests are refused for good (403), as long as outages. */
  readonly denialsPerMinute: number;
  readonly pauseMillisMax: number;
  /** The share of pauses in which the whole machine sleeps, and its monotonic clock stands still. */
  readonly sleeps: number;
  readonly lateMillisMax: number;
  readonly requestTimeoutMillis: number;
  /** Whole seconds as S3 tells them, or milliseconds. */
  readonly dateResolutionMillis: number;
  readonly lingerMillis: number;
  /** How long a queue stays deleted before its client creates it again, at most. */
  readonly recreateMillis: readonly number[];
  readonly cooldowns: boolean;
  readonly conditionalDelete: boolean;
  readonly retryingStore: boolean;
  readonly bodyBytes: readonly number[];
  readonly timing: Partial<EngineTiming>;
  /** Mostly small ones: what takes 256 KiB or 64 writers in production happens in every run, and at less cost. */
  readonly limits: QueueLimits;
  /** How long a node with waiting sends may land nothing while no fault excuses it. */
  readonly droughtMillisMax: number;
  /** Cheap LISTs of few keys: a handful of queues is watched by them. */
  readonly watch: Pick<EngineSettings, 'listTags' | 'listPriceInReads' | 'listPageKeys'>;
}

/** Faults of one seed: about half of them are off. */
function drawFaults(draw: Prng): Omit<FaultRates, keyof ReturnType<typeof drawOddFaults>> {
  const level = draw.pick([0, 0.002, 0.01, 0.03, 0.1]);
  const rate = (scale = 1) => (draw.chance(0.5) ? level * scale * draw.real(0.3, 1.5) : 0);
  return {
    slowAnswer: draw.chance(0.4) ? draw.pick([0.01, 0.05, 0.2]) : 0,
    requestLost: rate(),
    responseLost: rate(),
    late: rate(0.5),
    duplicate: rate(0.5),
    doubled: rate(),
    retried: 0,
    throttled: rate(),
    errorAfter: rate(),
    refused: rate(),
    readFailed: rate(),
    stalledBody: rate(0.3),
    lie: draw.chance(0.25) ? 0.003 : 0,
    kill: draw.chance(0.5) ? draw.pick([0.0005, 0.002, 0.006]) : 0,
    pause: draw.chance(0.5) ? draw.pick([0.0005, 0.002, 0.006]) : 0,
    answerLost: rate(),
    hangUp: draw.chance(0.5) ? 0.1 : 0,
  };
}

/** Of a stream of its own. */
function drawOddFaults(draw: Prng) {
  const rate = () => (draw.chance(0.3) ? draw.pick([0.002, 0.01, 0.03]) : 0);
  return {
    skewed: rate(),
    aged: rate(),
    modified: draw.chance(0.3) ? draw.pick([0.05, 0.5]) : 0,
    // Only in weathers of their own (focus.ts).
    pageFailed: 0,
    bodyFailed: 0,
  };
}

function drawNode(draw: Prng, far: boolean): NodeConfig {
  const put = far ? draw.real(80, 150) : draw.real(4, 40);
  return {
    putMillis: put,
    getMillis: put * draw.real(0.3, 0.8),
    skewMillis: draw.chance(0.5)
      ? draw.pick([-1, 1]) * draw.pick([300, 5_000, 60_000, 3_600_000]) * draw.unit()
      : 0,
    driftPpm: draw.chance(0.5) ? draw.real(-200, 200) : 0,
    stepsPerMinute: draw.chance(0.2) ? draw.real(0.2, 2) : 0,
  };
}

function drawQueues(draw: Prng): QueueConfig[] {
  const count = draw.pick([1, 1, 2, 2, 3]);
  const visibility = () => String(draw.pick([0, 1, 2, 5, 30, 60]));
  const queues: QueueConfig[] = [];
  const deadLetters = draw.chance(0.5);
  for (let i = 0; i < count; i++) {
    const attributes: Record<string, string> = { VisibilityTimeout: visibility() };
    if (draw.chance(0.25)) attributes.DelaySeconds = String(draw.pick([1, 3, 20]));
    if (draw.chance(0.3)) attributes.ReceiveMessageWaitTimeSeconds = String(draw.pick([1, 5, 20]));
    if (draw.chance(0.25)) attributes.MessageRetentionPeriod = String(draw.pick([60, 90, 300]));
    queues.push({ name: `q${i}`, attributes, deadLetterTo: deadLetters ? `d${i % 2}` : undefined });
  }
  if (deadLetters)
    for (let i = 0; i < Math.min(2, count); i++)
      queues.push({
        name: `d${i}`,
        attributes: { VisibilityTimeout: visibility() },
        deadLetterTo: draw.chance(0.2) && i === 0 && count > 1 ? 'd1' : undefined,
      });
  return queues;
}

function drawClients(draw: Prng, nodes: number): ClientConfig[] {
  const count = draw.between(2, 12);
  const think = draw.pick([5, 20, 80, 300, 1_000]);
  const rare = (weight: number) => (draw.chance(0.35) ? weight : 0);
  const purge = rare(0.02);
  const recreate = rare(draw.pick([0.02, 0.02, 0.15]));
  const attributes = rare(0.04);
  return Array.from({ length: count }, (_, index) => ({
    home: draw.between(0, nodes - 1),
    roams: draw.chance(0.5),
    thinkMillis: think * draw.real(0.3, 2),
    weights: {
      send: index === 0 || draw.chance(0.6) ? draw.real(0.3, 2) : 0,
      receive: index === 1 || draw.chance(0.7) ? draw.real(0.3, 2) : 0,
      settle: draw.real(0.3, 2),
      attributes,
      purge,
      recreate,
      look: 0.03,
    },
    deletes: draw.pick([0.3, 0.7, 0.95]),
  }));
}

function drawTiming(draw: Prng): Partial<EngineTiming> {
  return {
    pollMinMillis: draw.pick([20, 50]),
    pollMaxMillis: draw.pick([500, 2_000]),
    collectLagMillis: draw.pick([200, 1_000, 10_000, 60_000]),
    sweepIntervalMillis: draw.pick([1_000, 5_000, 20_000, 120_000, 24 * 3_600_000]),
    foreignIntentPatienceMillis: draw.pick([0, 200, 5_000]),
    tombstoneAgeMillis: 3_600_000,
    taskListMillis: Number.POSITIVE_INFINITY,
  };
}

export function drawConfig(seed: string, calls = 2_000): SimConfig {
  const drawn = drawSwarm(seed, calls);
  const focus = focusOf(seed);
  return focus ? focuses[focus](drawn, new Prng(`${seed}/focus`)) : drawn;
}

function drawSwarm(seed: string, calls: number): SimConfig {
  const draw = new Prng(`${seed}/config`);
  const nodeCount = draw.pick([1, 2, 2, 3, 3, 4, 5]);
  const far = draw.chance(0.2);
  const limits = drawLimits(seed);
  const odd = new Prng(`${seed}/odd`);
  const faults = { ...drawFaults(draw), ...drawOddFaults(odd) };
  return {
    seed,
    calls,
    nodes: Array.from({ length: nodeCount }, (_, index) => drawNode(draw, far && index === 0)),
    queues: drawQueues(draw),
    clients: drawClients(draw, nodeCount),
    faults,
    outagesPerMinute: draw.chance(0.25) ? draw.pick([0.2, 1, 3]) : 0,
    outageMillisMax: draw.pick([2_000, 20_000, 180_000]),
    denialsPerMinute: odd.chance(0.2) ? odd.pick([0.2, 1]) : 0,
    pauseMillisMax: draw.pick([1_000, 10_000, 30_000, 200_000]),
    sleeps: drawSleeps(new Prng(`${seed}/sleeps`)),
    lateMillisMax: draw.pick([200, 3_000, 60_000, 600_000]),
    requestTimeoutMillis: draw.pick([1_000, 5_000, 15_000]),
    dateResolutionMillis: draw.pick([1, 1_000]),
    lingerMillis: draw.pick([0, 5, 20, 100]),
    recreateMillis: [0, 20, 2_000],
    cooldowns: draw.chance(0.1),
    conditionalDelete: draw.chance(0.8),
    retryingStore: draw.chance(0.8),
    // Sizes by frequency, against the limits of the product.
    bodyBytes: draw
      .pick([
        [16],
        [16, 256],
        [16, 256],
        [16, 16, 16, 20_000],
        [16, 16, 16, 16, 70_000],
        [16, 16, 256, 30_000, 70_000],
      ])
      .map((bytes) =>
        bytes > 256 ? Math.ceil((bytes * limits.tailBytesMax) / queueLimits.tailBytesMax) : bytes,
      ),
    limits,
    // Nodes may be farther than those of the promise, and small limits make more requests of each commit.
    droughtMillisMax: limits.delayedInlineMax < queueLimits.delayedInlineMax ? pagedDroughtMillisMax : 10_000,
    timing: {
      ...drawTiming(draw),
      compactDelayMillis: new Prng(`${seed}/compaction`).pick([20, 200, 1_000, 5_000]),
    },
    watch: drawWatch(new Prng(`${seed}/watch`)),
  };
}

const noPages = {
  delayedInlineMax: queueLimits.delayedInlineMax,
  delayedPageEntries: queueLimits.delayedPageEntries,
  leaseInlineMax: queueLimits.leaseInlineMax,
  leasePageEntries: queueLimits.leasePageEntries,
  readyRangesMax: queueLimits.readyRangesMax,
  readyPageRanges: queueLimits.readyPageRanges,
  segmentsInlineMax: queueLimits.segmentsInlineMax,
  segmentPageEntries: queueLimits.segmentPageEntries,
  deduplicationInlineMax: queueLimits.deduplicationInlineMax,
  deduplicationPageEntries: queueLimits.deduplicationPageEntries,
};
const smallPages = {
  delayedInlineMax: 8,
  delayedPageEntries: 4,
  leaseInlineMax: 8,
  leasePageEntries: 4,
  readyRangesMax: 6,
  readyPageRanges: 3,
  segmentsInlineMax: 12,
  segmentPageEntries: 4,
  deduplicationInlineMax: 8,
  deduplicationPageEntries: 4,
};
/** With pages written in nearly every commit. */
export const pagedDroughtMillisMax = 15_000;
export const smallestPages = {
  delayedInlineMax: 2,
  delayedPageEntries: 2,
  leaseInlineMax: 4,
  leasePageEntries: 3,
  readyRangesMax: 2,
  readyPageRanges: 1,
  segmentsInlineMax: 3,
  segmentPageEntries: 2,
  deduplicationInlineMax: 3,
  deduplicationPageEntries: 2,
};

/** Of streams of their own. */
function drawLimits(seed: string): QueueLimits {
  const draw = new Prng(`${seed}/limits`);
  const share = draw.pick([1, 1 / 16, 1 / 16, 1 / 64, 1 / 64]);
  const paged = new Prng(`${seed}/pages`);
  return {
    writersMax: draw.chance(0.25) ? draw.pick([2, 4]) : queueLimits.writersMax,
    tailBytesMax: queueLimits.tailBytesMax * share,
    inlineMessageBytesMax: queueLimits.inlineMessageBytesMax * share,
    intentsMax: draw.pick([2, queueLimits.intentsMax]),
    inFlightMax: draw.pick([20, queueLimits.inFlightMax, queueLimits.inFlightMax]),
    fifoLookMax: queueLimits.fifoLookMax,
    groupRatesMax: queueLimits.groupRatesMax,
    quietRangesMax: queueLimits.quietRangesMax,
    ...paged.pick([noPages, smallPages, smallPages, smallestPages]),
    segmentBytesMax: share * draw.pick([queueLimits.segmentBytesMax, queueLimits.tailBytesMax / 4]),
    // A few tails, so that every backlog is compacted.
    compactedBytesMax: queueLimits.tailBytesMax * share * draw.pick([1, 2, 4]),
  };
}

/** Of a stream of its own. */
function drawSleeps(draw: Prng): number {
  return draw.chance(0.4) ? draw.pick([0.3, 1]) : 0;
}

/** Of a stream of its own. */
function drawWatch(draw: Prng): SimConfig['watch'] {
  return {
    listTags: draw.chance(0.9),
    listPriceInReads: draw.pick([0.01, 0.1, 0.3, 1.2, 12.5]),
    listPageKeys: draw.pick([1, 2, 1_000]),
  };
}
