/**
 * Nodes on one bucket and the network between them and their clients: starts, kills and restarts processes, carries
 * calls there and answers back, and loses some. Over 300 lines for what every process is wired to.
 */

import { supersededCompaction } from '../../src/engine/compactor.ts';
import type { Log } from '../../src/engine/environment.ts';
import { createQueueService, type Engine } from '../../src/engine/queue-service.ts';
import { RetryingStore } from '../../src/store/retrying-store.ts';
import type { Bucket } from './bucket.ts';
import { ClockError } from './clock-error.ts';
import { accountId, region, type SimConfig } from './config.ts';
import type { Court } from './court.ts';
import { CallDescriber } from './describe.ts';
import { type Call, type CallAnswer, type CallRequest, isLongPoll, type Reply } from './history.ts';
import { Life } from './life.ts';
import { perform } from './perform.ts';
import type { Prng } from './prng.ts';
import type { Reached } from './reached.ts';
import type { Scheduler } from './scheduler.ts';
import { SimStore, type StoreWatcher } from './sim-store.ts';
import type { Trace } from './trace.ts';
import type { SimWeather } from './weather.ts';

/** One request of a slow spell may take that long, and for as long rounds that were measured in it make others wait. */
const slowSpellMillis = 15_000;

export interface CallOptions {
  readonly timeoutMillis: number;
  /** The client goes away after that long. */
  readonly hangUpMillis?: number;
  /** What the node says, whether or not the client hears it. */
  readonly said?: (answer: CallAnswer) => void;
}

interface SimNode {
  readonly index: number;
  life: Life;
  engine: Engine;
  lives: number;
  /** What to tell clients when the process dies. */
  readonly open: Set<() => void>;
}

export interface ClusterWorld {
  readonly scheduler: Scheduler;
  readonly config: SimConfig;
  readonly bucket: Bucket;
  readonly court: Court;
  readonly weather: SimWeather;
  readonly reached: Reached;
  readonly draw: Prng;
  readonly trace: Trace;
}

export class Cluster {
  readonly nodes: SimNode[];
  aborts = 0;
  calls = 0;
  storeRequests = 0;
  readonly clocks: ClockError;
  readonly #undisturbedSince: number[];
  readonly #world: ClusterWorld;
  readonly #network: Prng;
  readonly #describe = new CallDescriber();

  constructor(world: ClusterWorld) {
    this.#world = world;
    this.clocks = new ClockError(world.config, world.scheduler);
    this.#network = world.draw.stream('network');
    this.#undisturbedSince = world.config.nodes.map(() => 0);
    this.nodes = world.config.nodes.map((_, index) => {
      const node = { index, lives: 0, open: new Set<() => void>() } as SimNode;
      this.#start(node);
      this.#stepWalls(node);
      return node;
    });
  }

  /** Never rejects. */
  call(client: number, nodeIndex: number, request: CallRequest, options: CallOptions): Promise<Reply> {
    const { scheduler, court, config, weather, reached, trace } = this.#world;
    const id = ++this.calls;
    // Of its own for each call: which of two answers of one instant comes first differs between runtimes.
    const network = this.#network.stream(String(id));
    const net = () => network.real(0.05, 1);
    return new Promise((resolve) => {
      let over = false;
      let abort: (() => void) | undefined;
      const end = (reply: Reply) => {
        if (over) return 'quiet';
        over = true;
        if (trace.on) trace.line(scheduler.now, `call ${id} → ${this.#describe.reply(reply)}`);
        resolve(reply);
        return undefined;
      };
      const giveUp = () => {
        if (over) return 'quiet';
        abort?.();
        return end({ kind: 'lost' });
      };
      if (trace.on)
        trace.line(
          scheduler.now,
          `call ${id} by ${client} to n${nodeIndex}: ${this.#describe.request(request)}`,
        );
      scheduler.at(scheduler.now + (options.hangUpMillis ?? options.timeoutMillis), giveUp);
      scheduler.at(scheduler.now + net(), () => {
        const node = this.nodes[nodeIndex]!;
        const { life, engine } = node;
        const lose = () => scheduler.at(scheduler.now + net(), () => end({ kind: 'lost' }));
        if (!life.alive) {
          lose();
          return 'quiet';
        }
        life.at(scheduler.now, () => {
          const gone = new AbortController();
          let clientGone = false;
          abort = () => {
            life.at(scheduler.now, () => {
              clientGone = true;
              this.aborts++;
              if (isLongPoll(request)) reached.note('a client hangs up in a long poll');
              gone.abort();
            });
          };
          if (over) abort();
          const call: Call = { id, client, node: nodeIndex, request, arrivedAt: scheduler.now };
          court.arrived(call);
          node.open.add(lose);
          void perform(engine.service, request, gone.signal).then((answer) => {
            if (!life.alive) return;
            node.open.delete(lose);
            options.said?.(answer);
            // An empty answer to nobody says nothing.
            const empty = answer.kind === 'done' && 'messages' in answer && answer.messages.length === 0;
            if (!(clientGone && empty)) court.answered(call, answer);
            const lost = weather.faulty && network.chance(config.faults.answerLost);
            if (
              (clientGone || lost) &&
              answer.kind === 'done' &&
              'undelivered' in answer &&
              network.chance(0.7)
            ) {
              this.aborts++;
              court.undelivered(answer);
              void answer.undelivered();
            }
            if (lost) {
              reached.note('the answer to a client is lost');
              scheduler.at(life.now + net(), () => giveUp());
            } else scheduler.at(life.now + net(), () => end({ kind: 'answer', answer }));
          });
          return undefined;
        });
        return 'quiet';
      });
    });
  }

  /** Starts every dead node again. */
  heal(): void {
    for (const node of this.nodes) if (!node.life.alive) this.#start(node);
  }

  end(): void {
    for (const node of this.nodes) node.life.alive = false;
  }

  /** A new process of this node, the others being gone. */
  startAlone(index: number): void {
    this.#start(this.nodes[index]!);
  }

  #start(node: SimNode): void {
    const { scheduler, config, bucket, court, weather, reached, draw, trace } = this.#world;
    const { index } = node;
    node.lives++;
    const stream = draw.stream(`node ${index} life ${node.lives}`);
    const nodeConfig = config.nodes[index]!;
    const { kill, pause } = config.faults;
    const { pauseMillisMax, sleeps } = config;
    const say = (text: string) => {
      if (trace.on) trace.line(scheduler.now, `n${index} ${text}`);
    };
    say(`starts, life ${node.lives}`);
    const life = new Life(
      scheduler,
      nodeConfig,
      stream.stream('faults'),
      { kill, pause, pauseMillisMax, sleeps, active: () => weather.faulty },
      {
        killed: () => {
          say('is killed');
          reached.note('a process is killed');
          court.killed(index);
          this.#disturb(index);
          for (const lose of node.open) lose();
          node.open.clear();
          const restMillis = stream.real(5, 5_000);
          scheduler.at(scheduler.now + restMillis, () => {
            if (!node.life.alive) this.#start(node);
          });
        },
        paused: (millis, asleep) => {
          say(`${asleep ? 'sleeps' : 'pauses'} for ${millis.toFixed(0)} ms`);
          reached.paused(millis, asleep);
          this.#disturb(index, node.life.now - scheduler.now);
          if (asleep) this.clocks.slept(node.life);
        },
      },
    );
    const wire = new SimStore({
      node: index,
      life,
      bucket,
      scheduler,
      config,
      nodeConfig,
      weather,
      draw: stream.stream('wire'),
      watcher: this.#watcherOf(index, life, say),
    });
    const random = stream.stream('engine');
    const store = this.clocks.timed(
      config.retryingStore ? new RetryingStore(wire, life, random) : wire,
      life,
    );
    const complain = (message: string, fields?: Readonly<Record<string, unknown>>) => {
      if (!life.alive) return;
      const { error } = fields ?? {};
      const why = error instanceof Error ? error.stack : JSON.stringify(fields);
      court.fail('the engine logs no error', `n${index}: ${message}: ${why}`);
    };
    const log: Log = {
      debug: (message) => {
        if (message === supersededCompaction) reached.note('a compaction was superseded');
      },
      info: () => {},
      warn: (message) => say(`warns: ${message}`),
      error: complain,
    };
    node.life = life;
    node.engine = createQueueService(
      { clock: life, random, store, log },
      {
        accountId,
        region,
        lingerMillis: config.lingerMillis,
        cooldowns: config.cooldowns,
        conditionalDelete: config.conditionalDelete,
        timing: config.timing,
        limits: config.limits,
        ...config.watch,
      },
    );
  }

  #watcherOf(index: number, life: Life, say: (text: string) => void): StoreWatcher {
    const { court, reached, weather } = this.#world;
    return {
      request: (_node, method, key, fate, pausedMillis = 0) => {
        this.storeRequests++;
        if (weather.slowness() > 1) this.#disturb(index, slowSpellMillis);
        else if (fate !== 'plain') this.#disturb(index);
        reached.request(method, fate);
        court.scenes.requested(index, method, key, pausedMillis);
        say(`${method} ${key}${fate === 'plain' ? '' : ` (${fate})`}`);
      },
      lied: () => {
        this.clocks.lied(life);
        say('is told a lie');
        reached.note('the Date of an answer lies');
      },
      reached: (kind) => {
        say(`finds: ${kind}`);
        reached.note(kind);
      },
    };
  }

  undisturbedSince(node: number): number {
    return this.#undisturbedSince[node]!;
  }

  #disturb(node: number, forMillis = 0): void {
    const { scheduler, config } = this.#world;
    this.#undisturbedSince[node] = Math.max(
      this.#undisturbedSince[node]!,
      scheduler.now + forMillis + config.requestTimeoutMillis,
    );
  }

  #stepWalls(node: SimNode): void {
    const { scheduler, config, weather, reached, draw } = this.#world;
    const { stepsPerMinute } = config.nodes[node.index]!;
    if (stepsPerMinute === 0) return;
    const steps = draw.stream(`wall ${node.index}`);
    const next = () => {
      scheduler.at(scheduler.now + (60_000 / stepsPerMinute) * 2 * steps.unit(), () => {
        if (!weather.faulty) return 'quiet';
        reached.note('a wall clock steps');
        node.life.stepWall(Math.floor(steps.real(-1, 1) * steps.pick([500, 60_000, 3_600_000])));
        next();
        return 'quiet';
      });
    };
    next();
  }
}
