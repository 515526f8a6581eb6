/**
 * The weather `tasks`: two queues whose letters come to one dead-letter queue, and message move tasks out of it all the time, back to where
 * they came from, to a third queue or to one of the two, at drawn rates. Several nodes, which are killed and stall; the queues are
 * purged, deleted and created again in the middle; consumers take of all of them. In most seeds few intents fit at a time.
 */
import { pagedDroughtMillisMax, type QueueConfig, type SimConfig, smallestPages } from './config.ts';
import { withNodes, withWeights } from './focus-parts.ts';
import type { Prng } from './prng.ts';

export function tasks(drawn: SimConfig, draw: Prng): SimConfig {
  const { nodes, clients } = withNodes(drawn, 2);
  const lies = draw.chance(0.2);
  const weights = {
    send: 0.8,
    receive: 1.2,
    settle: 0.6,
    attributes: 0,
    purge: draw.pick([0, 0.01, 0.03]),
    recreate: draw.pick([0, 0.02, 0.1]),
    look: 0.05,
    task: draw.pick([0.05, 0.2]),
  };
  const limits = draw.chance(0.5) ? { ...drawn.limits, ...smallestPages } : drawn.limits;
  return {
    ...drawn,
    calls: Math.min(drawn.calls, 1_200),
    nodes: nodes.map((node) => ({ ...node, stepsPerMinute: lies ? node.stepsPerMinute : 0 })),
    queues: drawQueues(draw),
    clients: withWeights(clients, weights, draw.pick([20, 100, 400])).map((client) => ({
      ...client,
      deletes: draw.pick([0.1, 0.5]),
    })),
    faults: {
      ...drawn.faults,
      lie: lies ? drawn.faults.lie : 0,
      kill: draw.pick([0, 0.0005, 0.002]),
      pause: draw.pick([0, 0.001]),
      slowAnswer: draw.pick([0, 0.05]),
      late: draw.pick([0, 0.01]),
      bodyFailed: draw.pick([0, 0, 0.2]),
    },
    sleeps: lies ? drawn.sleeps : 0,
    pauseMillisMax: Math.min(drawn.pauseMillisMax, 30_000),
    lateMillisMax: Math.min(drawn.lateMillisMax, 60_000),
    cooldowns: false,
    bodyBytes: draw.pick([[16], [16, 256], [16, 16, 1_500]]),
    limits: { ...limits, intentsMax: draw.pick([2, 5, limits.intentsMax]) },
    timing: {
      ...drawn.timing,
      foreignIntentPatienceMillis: draw.pick([0, 50, 1_000]),
      foreignTaskPatienceMillis: draw.pick([50, 500, 5_000]),
      unreadableTaskMillis: draw.pick([1_000, 20_000]),
      taskListMillis: 5_000,
      taskListIdleMillis: 30_000,
    },
    droughtMillisMax: pagedDroughtMillisMax,
  };
}

function drawQueues(draw: Prng): QueueConfig[] {
  const isFifo = draw.chance(0.3);
  const named = (name: string) => (isFifo ? `${name}.fifo` : name);
  const queue = (name: string, attributes: QueueConfig['attributes']): QueueConfig => {
    const common = { name: named(name), deadLetterTo: undefined };
    if (!isFifo) return { ...common, attributes };
    return {
      ...common,
      attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes },
      fifo: { groups: draw.pick([3, 10]), hot: 0.3, repeats: 0.1, ids: 30, explicit: 0.5 },
    };
  };
  const source = (name: string): QueueConfig => ({
    ...queue(name, { VisibilityTimeout: String(draw.pick([0, 0, 1])) }),
    deadLetterTo: named('d0'),
  });
  const letters = queue('d0', {
    VisibilityTimeout: String(draw.pick([0, 1, 5])),
    MessageRetentionPeriod: draw.pick(['90', '345600', '345600']),
  });
  const tasks = {
    destinations: [undefined, named('x0'), named('q0')],
    rates: [undefined, undefined, 1, 5, 40, 500],
  };
  return [source('q0'), source('q1'), queue('x0', { VisibilityTimeout: '5' }), { ...letters, tasks }];
}
