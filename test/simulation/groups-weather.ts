/**
 * The weather `groups`: FIFO queues with a FIFO dead-letter queue, whose groups lock each other out all the time and whose
 * deduplication ids repeat, on several nodes and with pages of every kind. In some of its seeds clients are so slow
 * that ids are free again before the end: five minutes have to pass. Clocks are right: how wrong ones are borne is for
 * others to show, and a message that hides behind them would hide all of its group.
 */
import { queueLimits } from '../../src/core/limits.ts';
import { pagedDroughtMillisMax, type QueueConfig, type SimConfig, smallestPages } from './config.ts';
import { withNodes, withWeights } from './focus-parts.ts';
import type { Prng } from './prng.ts';

const clientsMax = 8;

export function groups(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  const slow = draw.chance(0.4);
  const thinkMillis = slow ? draw.real(2_000, 4_000) : draw.pick([20, 100, 400]);
  const tailBytesMax = queueLimits.tailBytesMax / 64;
  const weights = {
    send: draw.pick([0.7, 1.5]),
    receive: 1.2,
    settle: 1.2,
    attributes: draw.pick([0, 0.05]),
    purge: draw.pick([0, 0.01, 0.03]),
    recreate: draw.pick([0, 0, 0.01]),
    look: 0.05,
  };
  const deletes = draw.pick([0.3, 0.7, 0.95]);
  const bodyFailed = draw.stream('bodies').pick([0, 0, 0.1, 0.4]);
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 900),
    nodes: nodes.map((node) => ({ ...node, stepsPerMinute: 0 })),
    queues: drawQueues(draw),
    clients: withWeights(clients.slice(0, clientsMax), weights, thinkMillis).map((client) => ({
      ...client,
      thinkMillis: thinkMillis * draw.real(0.5, 1.5),
      deletes,
    })),
    faults: {
      ...drawn.faults,
      lie: 0,
      kill: draw.pick([0, 0, 0.0005, 0.003]),
      pause: draw.pick([0, 0.001]),
      pageFailed: draw.pick([0, 0, 0.1]),
      readFailed: draw.pick([0, 0, 0.02]),
      bodyFailed,
    },
    sleeps: 0,
    pauseMillisMax: Math.min(drawn.pauseMillisMax, 30_000),
    lateMillisMax: Math.min(drawn.lateMillisMax, 60_000),
    cooldowns: false,
    bodyBytes: draw.pick([[16], [16, 256], [16, 16, 1_500]]),
    limits: {
      ...drawn.limits,
      ...smallestPages,
      tailBytesMax,
      inlineMessageBytesMax: tailBytesMax / 4,
      segmentBytesMax: tailBytesMax / 4,
      fifoLookMax: draw.pick([12, 60, queueLimits.fifoLookMax]),
      // So few in the manifest that locks are in pages mostly, or so many that they are in both.
      leaseInlineMax: draw.pick([2, 4, 12]),
    },
    droughtMillisMax: pagedDroughtMillisMax,
  };
}

/**
 * The same on machines that sleep and clocks that are wrong, drift and step, and a store that lies about the time: order, exclusivity
 * and deduplication rest on no clock, and ids may be forgotten later for it, never earlier.
 */
export function drifts(drawn: SimConfig, draw: Prng): SimConfig {
  const config = groups(drawn, draw);
  const sleeps = draw.pick([0, 0, 0.5, 1]);
  return {
    ...config,
    nodes: config.nodes.map((node) => ({
      ...node,
      skewMillis: draw.pick([0, 0, -1, 1]) * draw.pick([500, 5_000, 600_000]) * draw.unit(),
      stepsPerMinute: draw.pick([0, 0.5, 3]),
    })),
    faults: {
      ...config.faults,
      lie: draw.pick([0, 0, 0.0005]),
      pause: sleeps > 0 ? draw.pick([0.001, 0.003]) : config.faults.pause,
    },
    sleeps,
    pauseMillisMax: sleeps > 0 ? draw.pick([10_000, 200_000, 1_000_000]) : config.pauseMillisMax,
  };
}

function drawQueues(draw: Prng): QueueConfig[] {
  const source = (name: string): QueueConfig => ({
    name,
    attributes: {
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      DeduplicationScope: draw.pick(['queue', 'messageGroup']),
      VisibilityTimeout: String(draw.pick([1, 2, 5, 30])),
      DelaySeconds: String(draw.pick([0, 0, 0, 1, 4])),
      MessageRetentionPeriod: draw.pick(['60', '300', '345600', '345600']),
    },
    deadLetterTo: 'gd.fifo',
    fifo: {
      groups: draw.pick([3, 10, 40]),
      hot: draw.pick([0, 0.3, 0.7]),
      repeats: draw.pick([0.1, 0.4]),
      ids: draw.pick([5, 30, 100]),
      explicit: draw.pick([0, 0.5, 1]),
    },
  });
  const letters: QueueConfig = {
    ...source('gd.fifo'),
    attributes: {
      FifoQueue: 'true',
      VisibilityTimeout: draw.pick(['1', '5']),
      MessageRetentionPeriod: '300',
    },
    deadLetterTo: undefined,
  };
  return [source('g0.fifo'), ...(draw.chance(0.4) ? [source('g1.fifo')] : []), letters];
}
