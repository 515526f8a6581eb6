/**
 * The weather `fair`: standard queues with message groups, one of which sends nearly everything and more than is
 * received, so that a backlog of it lies there and every receive chooses. Pages as small as they go. In half of its
 * seeds the store is well, so that whatever is handed out in another order is somebody's fault.
 */
import { queueLimits } from '../../src/core/limits.ts';
import { pagedDroughtMillisMax, type QueueConfig, type SimConfig, smallestPages } from './config.ts';
import { noFaults, withNodes, withWeights } from './focus-parts.ts';
import type { Prng } from './prng.ts';

export interface FairConfig {
  /** Besides the busy one. */
  readonly groups: number;
  /** The share of calls that are the busy group's. */
  readonly busy: number;
  /** The share of the other messages that have no group. */
  readonly none: number;
}

export const busyGroup = 'busy';

/** Of all messages of a call. */
export function drawGroup(draw: Prng, { groups, busy, none }: FairConfig): string | undefined {
  if (draw.chance(busy)) return busyGroup;
  return draw.chance(none) ? undefined : `quiet${draw.between(1, groups)}`;
}

export function fair(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  const tailBytesMax = queueLimits.tailBytesMax / draw.pick([16, 64]);
  const weights = {
    send: 1.5,
    receive: draw.pick([0.7, 1.2]),
    settle: 1,
    attributes: draw.pick([0, 0.02]),
    purge: draw.pick([0, 0, 0.01]),
    recreate: draw.pick([0, 0, 0.01]),
    look: 0.02,
  };
  const well = draw.chance(0.5);
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 700),
    nodes: nodes.map((node) => ({ ...node, stepsPerMinute: 0 })),
    queues: drawQueues(draw),
    clients: withWeights(clients.slice(0, 8), weights, draw.pick([50, 400])).map((client) => ({
      ...client,
      deletes: draw.pick([0.7, 0.95]),
    })),
    faults: well
      ? { ...noFaults(drawn), hangUp: 0.1 }
      : { ...drawn.faults, lie: 0, pageFailed: draw.pick([0, 0.1]), bodyFailed: draw.pick([0, 0.1]) },
    outagesPerMinute: well ? 0 : drawn.outagesPerMinute,
    denialsPerMinute: well ? 0 : drawn.denialsPerMinute,
    sleeps: 0,
    lateMillisMax: Math.min(drawn.lateMillisMax, 60_000),
    pauseMillisMax: Math.min(drawn.pauseMillisMax, 30_000),
    cooldowns: false,
    bodyBytes: draw.pick([[16], [16, 256], [16, 16, 1_500]]),
    limits: {
      ...drawn.limits,
      ...draw.pick([smallestPages, { ...smallestPages, readyRangesMax: 12, segmentsInlineMax: 12 }]),
      tailBytesMax,
      inlineMessageBytesMax: tailBytesMax / 4,
      segmentBytesMax: tailBytesMax / 4,
      inFlightMax: queueLimits.inFlightMax,
      quietRangesMax: draw.pick([3, 20, queueLimits.quietRangesMax]),
    },
    droughtMillisMax: pagedDroughtMillisMax,
  };
}

function drawQueues(draw: Prng): QueueConfig[] {
  const queue = (name: string): QueueConfig => ({
    name,
    attributes: {
      VisibilityTimeout: String(draw.pick([2, 30, 300])),
      DelaySeconds: String(draw.pick([0, 0, 0, 2])),
      MessageRetentionPeriod: draw.pick(['300', '345600', '345600']),
    },
    deadLetterTo: undefined,
    fair: { groups: draw.pick([2, 5, 12]), busy: draw.pick([0.8, 0.9, 0.95]), none: draw.pick([0, 0.3]) },
  });
  return [queue('f0'), ...(draw.chance(0.3) ? [queue('f1')] : [])];
}
