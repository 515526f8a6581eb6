/**
 * Weather for one part of the engine: a seed whose name begins with a focus (`moves-17`) plays the swarm's draw with
 * some of it fixed, so that what needs three rare things at once happens in every seed. Everything else stays drawn.
 * Over 300 lines: a weather is a list of what it fixes, and they are read beside each other.
 */
import { queueLimits } from '../../src/core/limits.ts';
import { pagedDroughtMillisMax, type QueueConfig, type SimConfig, smallestPages } from './config.ts';
import { fair } from './fair-weather.ts';
import { noFaults, withNodes, withWeights } from './focus-parts.ts';
import { drifts, groups } from './groups-weather.ts';
import type { Prng } from './prng.ts';
import { tasks } from './tasks-weather.ts';

export const focusNames = [
  'moves',
  'collection',
  'clocks',
  'names',
  'swaps',
  'far',
  'crashes',
  'graves',
  'pages',
  'sleeps',
  'backlogs',
  'quiet',
  'reads',
  'stretches',
  'groups',
  'drifts',
  'fair',
  'tasks',
] as const;

export type Focus = (typeof focusNames)[number];

export function focusOf(seed: string): Focus | undefined {
  return focusNames.find((name) => seed.startsWith(`${name}-`));
}

export const focuses: Readonly<Record<Focus, (drawn: SimConfig, draw: Prng) => SimConfig>> = {
  moves,
  collection,
  clocks,
  names,
  swaps,
  far,
  crashes,
  graves,
  pages,
  sleeps,
  backlogs,
  quiet,
  reads,
  stretches,
  groups,
  drifts,
  fair,
  tasks,
};

/** Letters all the time, several movers at once, and queues that come and go in the middle. */
function moves(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 3);
  const source = (name: string): QueueConfig => ({
    name,
    attributes: { VisibilityTimeout: String(draw.pick([0, 0, 1])) },
    deadLetterTo: 'd0',
  });
  return {
    ...drawn,
    nodes,
    queues: [
      source('q0'),
      source('q1'),
      { name: 'd0', attributes: { VisibilityTimeout: '1' }, deadLetterTo: undefined },
    ],
    clients: withWeights(
      clients,
      { send: 0.5, receive: 2, recreate: draw.pick([0.01, 0.05, 0.15]), purge: draw.pick([0, 0.02, 0.1]) },
      50,
    ).map((client) => ({ ...client, deletes: 0.1 })),
    faults: {
      ...drawn.faults,
      slowAnswer: draw.pick([0.05, 0.2]),
      late: draw.pick([0, 0.02]),
      responseLost: draw.pick([0, 0.03]),
    },
    bodyBytes: [16],
    timing: { ...drawn.timing, foreignIntentPatienceMillis: draw.pick([0, 50]) },
  };
}

/** Segments in every commit, collected as soon as they may be, by writers who stall before their swap. */
function collection(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 1_000),
    nodes,
    clients: withWeights(clients, { send: 1, receive: 1, settle: 1.5 }, 80),
    faults: {
      ...drawn.faults,
      slowAnswer: draw.pick([0.1, 0.3]),
      readFailed: draw.pick([0, 0.02]),
      pause: draw.pick([0, 0.002]),
    },
    bodyBytes: [16, 16, 70_000],
    timing: {
      ...drawn.timing,
      collectLagMillis: draw.pick([100, 300]),
      sweepIntervalMillis: draw.pick([500, 1_500]),
    },
  };
}

/** Everything leaves the manifest as soon as it may, and comes back. */
function pages(drawn: SimConfig, draw: Prng): SimConfig {
  const collected = collection(drawn, draw);
  const tailBytesMax = queueLimits.tailBytesMax / 64;
  return {
    ...collected,
    calls: Math.min(collected.calls, 700),
    // Sweeps every second would mostly bury: an hour for the tombstones to grow old would be three quarters of all requests.
    lateMillisMax: Math.min(collected.lateMillisMax, 60_000),
    timing: { ...collected.timing, tombstoneAgeMillis: 600_000 },
    queues: [
      { name: 'q0', attributes: { DelaySeconds: String(draw.pick([1, 2, 5])) }, deadLetterTo: undefined },
      {
        name: 'q1',
        attributes: { DelaySeconds: '20', MessageRetentionPeriod: '60' },
        deadLetterTo: undefined,
      },
      {
        name: 'q2',
        attributes: { VisibilityTimeout: '2', MessageRetentionPeriod: draw.pick(['60', '300']) },
        deadLetterTo: undefined,
      },
    ],
    limits: { ...collected.limits, ...smallestPages, tailBytesMax, segmentBytesMax: tailBytesMax / 4 },
    clients: withWeights(
      collected.clients,
      { send: draw.pick([1, 3]), receive: 1, settle: 1, purge: draw.pick([0, 0, 0.02]) },
      80,
    ),
    faults: { ...collected.faults, pageFailed: draw.pick([0, 0.1, 0.4]) },
    droughtMillisMax: pagedDroughtMillisMax,
  };
}

/** Pages so large that what leaves them side by side is told by ranges: batches of ten are received and deleted together. */
function stretches(drawn: SimConfig, draw: Prng): SimConfig {
  const paged = pages(drawn, draw);
  const attributes = { VisibilityTimeout: String(draw.pick([20, 60])), MessageRetentionPeriod: '300' };
  return {
    ...paged,
    queues: [{ name: 'q0', attributes, deadLetterTo: undefined }],
    limits: {
      ...paged.limits,
      leaseInlineMax: draw.pick([8, 16]),
      leasePageEntries: draw.pick([24, 32, 48]),
    },
    clients: withWeights(paged.clients, { send: 2, receive: 2, settle: draw.pick([0.5, 1]) }, 40).map(
      (client) => ({ ...client, deletes: draw.pick([0.5, 0.9]) }),
    ),
  };
}

/** Short lives, long runs, and a store that lies about the time now and then. */
function clocks(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  // Manifest time lags behind where nobody commits, and a stamp that is too low is then too low for all.
  const idle = draw.chance(0.5);
  return {
    ...drawn,
    nodes,
    clients: withWeights(
      idle ? clients.slice(0, 3) : clients,
      { send: 1, receive: draw.pick([0.2, 1]), settle: draw.pick([0.1, 0.5]), purge: 0, recreate: 0 },
      1_000,
    ).map((client) => ({
      ...client,
      thinkMillis: idle ? draw.real(5_000, 20_000) : draw.real(500, 1_500),
    })),
    queues: drawn.queues.map((queue) => ({
      ...queue,
      attributes: { ...queue.attributes, MessageRetentionPeriod: String(draw.pick([60, 90])) },
    })),
    faults: {
      ...drawn.faults,
      lie: idle ? 0.0007 : draw.pick([0, 0.0005, 0.002]),
      aged: draw.pick([0, 0.01, 0.1]),
    },
    dateResolutionMillis: 1_000,
    bodyBytes: [16],
  };
}

/** Queues that are deleted and created again all the time, and tombstones that go while the run goes on. */
function names(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  const patient = draw.chance(0.5);
  const lateMillisMax = draw.pick([200, 3_000]);
  const requestTimeoutMillis = draw.pick([1_000, 5_000]);
  return {
    ...drawn,
    nodes,
    clients: withWeights(clients, { recreate: draw.pick([0.02, 0.1, 0.3]) }, 300).map((client) => ({
      ...client,
      // Long enough for a node to trust the store's time: a minute.
      thinkMillis: patient ? 600 : 30,
    })),
    faults: {
      ...drawn.faults,
      pause: 0,
      kill: draw.pick([0, 0.0005]),
      slowAnswer: draw.pick([0.05, 0.2]),
      late: draw.pick([0, 0.02]),
      requestLost: draw.pick([0, 0.03]),
      duplicate: draw.pick([0, 0.03]),
      retried: draw.pick([0, 0.1]),
    },
    lateMillisMax,
    recreateMillis: [0, 20, 2_000, 20_000],
    requestTimeoutMillis,
    conditionalDelete: true,
    timing: {
      ...drawn.timing,
      // Above the age of any late copy, as an hour is above a signature's 15 minutes.
      tombstoneAgeMillis: 2 * (lateMillisMax + requestTimeoutMillis) + 2_000,
      sweepIntervalMillis: draw.pick([1_000, 5_000]),
    },
  };
}

/** One queue, several writers, and answers that are lost, late or doubled: every swap may be in doubt. */
function swaps(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 3);
  const rate = () => draw.pick([0, 0.02, 0.06]);
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 800),
    nodes,
    queues: drawn.queues.slice(0, 1).map((queue) => ({ ...queue, deadLetterTo: undefined })),
    clients: withWeights(clients, { send: 1, receive: 1, settle: 1 }, 60),
    faults: {
      ...drawn.faults,
      responseLost: rate(),
      requestLost: rate(),
      late: rate(),
      duplicate: rate(),
      doubled: rate(),
      retried: rate(),
      refused: rate(),
      throttled: rate(),
    },
    lateMillisMax: draw.pick([200, 1_000, 3_000]),
    requestTimeoutMillis: draw.pick([200, 1_000]),
  };
}

/** A node whose reads take long beside near ones, and clients that take from the one and come at once to the other. */
function reads(drawn: SimConfig, draw: Prng): SimConfig {
  const like = drawn.nodes[0]!;
  const near = { ...like, putMillis: 10, getMillis: 4 };
  const client = drawn.clients[0]!;
  const weights = { send: 1, receive: 1, settle: 1.5, attributes: 0, purge: 0, recreate: 0, look: 0.05 };
  const clients = Array.from({ length: draw.pick([3, 5]) }, (_, index) => ({
    ...client,
    home: index % 2,
    thinkMillis: 2,
    roams: true,
    weights,
    deletes: draw.pick([0.5, 0.9]),
  }));
  const attributes = { VisibilityTimeout: '30', ReceiveMessageWaitTimeSeconds: '20' };
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 800),
    nodes: [near, { ...near, putMillis: 40, getMillis: draw.pick([80, 150]) }],
    queues: [{ name: 'q0', attributes, deadLetterTo: undefined }],
    clients,
    faults: { ...noFaults(drawn), slowAnswer: draw.pick([0, 0.1]) },
  };
}

/** A node far from the store beside near ones that are never idle, and nothing else that could excuse it. */
function far(drawn: SimConfig, draw: Prng): SimConfig {
  const like = drawn.nodes[0]!;
  const near = { ...like, putMillis: 10, getMillis: 4, stepsPerMinute: 0 };
  const nodes = [
    ...Array.from({ length: draw.pick([1, 1, 2]) }, () => near),
    { ...near, putMillis: 120, getMillis: 60 },
  ];
  const farIndex = nodes.length - 1;
  const client = drawn.clients[0]!;
  const busy = (home: number, thinkMillis: number) => ({
    ...client,
    home,
    thinkMillis,
    roams: false,
    weights: { send: 1, receive: 0.3, settle: 0.7, attributes: 0, purge: 0, recreate: 0, look: 0.01 },
    deletes: 0.9,
  });
  return {
    ...drawn,
    calls: drawn.calls * 1.5,
    nodes,
    queues: [{ name: 'q0', attributes: { VisibilityTimeout: '30' }, deadLetterTo: undefined }],
    clients: [
      ...Array.from({ length: draw.pick([3, 6]) }, (_, index) => busy(index % farIndex, 1)),
      busy(farIndex, 100),
      busy(farIndex, 400),
    ],
    faults: noFaults(drawn),
    // The promise, with the product's own limits.
    droughtMillisMax: 5_000,
    limits: queueLimits,
    outagesPerMinute: 0,
    denialsPerMinute: 0,
    lingerMillis: draw.pick([0, 20, 100]),
    bodyBytes: draw.pick([[16], [256]]),
  };
}

/** Queues that come and go, by processes that die at any step of it, and pauses longer than any retention. */
function crashes(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 1_000),
    nodes,
    queues: drawn.queues.map((queue) => ({
      ...queue,
      attributes: { ...queue.attributes, MessageRetentionPeriod: '60' },
    })),
    clients: withWeights(
      clients,
      { send: 1, receive: 0.5, settle: 0.5, recreate: draw.pick([0.1, 0.5]) },
      200,
    ),
    faults: {
      ...drawn.faults,
      kill: draw.pick([0.01, 0.03]),
      late: draw.pick([0.01, 0.05]),
      pause: draw.pick([0.005, 0.01]),
    },
    pauseMillisMax: 200_000,
    bodyBytes: [16],
  };
}

/** Names that are created again just when their tombstone is old enough to go, and DELETEs that land late. */
function graves(drawn: SimConfig, draw: Prng): SimConfig {
  const named = names(drawn, draw);
  return {
    ...named,
    clients: withWeights(named.clients, { recreate: 0.3 }, 300),
    faults: { ...named.faults, kill: 0, duplicate: 0, late: 0.3 },
    lateMillisMax: 1_000,
    requestTimeoutMillis: 1_000,
    recreateMillis: [6_000, 7_000, 8_000],
    timing: { ...named.timing, tombstoneAgeMillis: 5_000, sweepIntervalMillis: 1_000 },
  };
}

/** Laptops: any of them may be shut for minutes in the middle of anything, and most have a clock of their own. */
function sleeps(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  // So few that a node's bounds are old when it has slept, or so many that somebody always commits.
  const thinkMillis = draw.pick([50, 1_000, 10_000]);
  return {
    ...drawn,
    nodes: nodes.map((node) => ({
      ...node,
      skewMillis: draw.pick([0, 0, -1, 1]) * draw.pick([500, 5_000, 600_000]) * draw.unit(),
      stepsPerMinute: 0,
    })),
    clients: withWeights(clients, { send: 1, receive: 1, settle: 1 }, thinkMillis).map((client) => ({
      ...client,
      thinkMillis: thinkMillis * draw.real(0.5, 1.5),
    })),
    queues: drawn.queues.map((queue) => ({
      ...queue,
      attributes: { ...queue.attributes, MessageRetentionPeriod: String(draw.pick([60, 90])) },
    })),
    faults: {
      ...drawn.faults,
      lie: draw.pick([0, 0, 0.0005]),
      kill: draw.pick([0, 0.0005]),
      pause: draw.pick([0.001, 0.003, 0.006]),
    },
    pauseMillisMax: draw.pick([10_000, 200_000, 1_000_000]),
    sleeps: draw.pick([0.5, 1]),
    bodyBytes: [16],
  };
}

/** More is sent than consumed, in tails that spill all the time, and several nodes compact what others change. */
function backlogs(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  const tailBytesMax = queueLimits.tailBytesMax / 64;
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 1_200),
    nodes,
    queues: drawn.queues
      .slice(0, 2)
      .map((queue) => ({
        ...queue,
        attributes: { ...queue.attributes, VisibilityTimeout: draw.pick(['0', '1', '5']) },
      }))
      .map((queue) => ({ ...queue, deadLetterTo: undefined })),
    clients: withWeights(
      clients,
      { send: 2, receive: 1, settle: draw.pick([0.5, 1.5]), purge: draw.pick([0, 0.005]) },
      80,
    ),
    faults: { ...drawn.faults, slowAnswer: draw.pick([0.05, 0.2]), late: draw.pick([0, 0.02]) },
    lateMillisMax: draw.pick([200, 3_000]),
    bodyBytes: [16, 256],
    limits: {
      ...drawn.limits,
      tailBytesMax,
      inlineMessageBytesMax: tailBytesMax / 4,
      segmentBytesMax: tailBytesMax / draw.pick([1, 4]),
      compactedBytesMax: tailBytesMax * draw.pick([1, 2]),
    },
    timing: {
      ...drawn.timing,
      compactDelayMillis: draw.pick([10, 100, 500]),
      collectLagMillis: draw.pick([100, 300, 2_000]),
      sweepIntervalMillis: draw.pick([500, 1_500, 10_000]),
    },
  };
}

/** Nobody sweeps, polls are rare and clocks are right: what wakes whom in the healed world is not hidden by them. */
function quiet(drawn: SimConfig): SimConfig {
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 200),
    nodes: drawn.nodes.slice(0, 2).map((node) => ({ ...node, skewMillis: 0, stepsPerMinute: 0 })),
    clients: drawn.clients.map((client) => ({ ...client, home: 0 })),
    queues: [{ name: 'q0', attributes: { VisibilityTimeout: '1' }, deadLetterTo: undefined }],
    faults: { ...drawn.faults, lie: 0 },
    limits: { ...drawn.limits, ...smallestPages, tailBytesMax: queueLimits.tailBytesMax / 64 },
    timing: {
      ...drawn.timing,
      pollMaxMillis: 8_000,
      collectLagMillis: 60_000,
      sweepIntervalMillis: 24 * 3_600_000,
    },
    droughtMillisMax: pagedDroughtMillisMax,
  };
}
