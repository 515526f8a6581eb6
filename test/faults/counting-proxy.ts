/**
 * A proxy before a real S3 server, with one door for each node, that makes it as far away as the store that bench/
 * simulates, and counts what is asked of it. As in bench/simulated-store.ts a write goes to the server in the last half
 * of its time, a read at half of it.
 *
 * - The time drawn for a request runs from its arrival and contains the server's own.
 * - A simulated node needs no time to sign, send and read a request; a process does, and the engine, which measures how
 *   far its store is, waits for that too. `ownMillis` is the part of the time drawn that the process takes by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Draw, Latency } from '../../bench/draw.ts';
import { bytesPerMilli, type Distance } from '../../bench/simulated-store.ts';
import { REQUEST_CLASSES, type RequestClass } from '../../src/store/metered-store.ts';
import { listenOn, StoreForwarder } from './forwarding.ts';
import { give, received, type StoreAnswer } from './proxy-answers.ts';
import { isConditional, isWrite, type StoreRequest } from './store-faults.ts';

export interface ProxyCounts {
  readonly requests: Readonly<Record<RequestClass, number>>;
  /** Refused for their condition: 412 and 409. */
  readonly lostSwaps: number;
  /** 5xx, and no answer at all. */
  readonly failures: number;
}

export class CountingProxy {
  readonly #store: StoreForwarder;
  readonly #draw: Draw;
  readonly #distance: Distance;
  readonly #requests: Record<RequestClass, number>;
  /** Of the process that asks, for each request: half of it before the request arrives, half after the answer. */
  ownMillis = 0;
  /** Every request of a kind takes the median: then what a process sees beyond it is its own. */
  constant = false;
  /** Of the server, the latest ones on average. */
  #serverMillis = 0;
  #lostSwaps = 0;
  #failures = 0;
  /** Of the server itself, for each request. */
  readonly storeMillis: number[] = [];
  /** How much later than drawn each answer went back. */
  readonly lateMillis: number[] = [];

  constructor(targetPort: number, draw: Draw, distance: Distance) {
    this.#store = new StoreForwarder(targetPort);
    this.#draw = draw;
    this.#distance = distance;
    this.#requests = { put: 0, conditionalPut: 0, get: 0, list: 0, delete: 0 };
  }

  /** Listens on the loopback address for as long as this process lives. @returns its endpoint. */
  async door(listenPort: number): Promise<string> {
    await listenOn(listenPort, async (incoming, outgoing) => {
      const arrivedAt = performance.now();
      const request = await received(incoming);
      const kind = classOf(request);
      this.#requests[kind] += 1;
      const { there, whole } = this.#drawMillis(request);
      const calledAt = arrivedAt - this.ownMillis / 2;
      const answerAt = calledAt + whole - this.ownMillis / 2;
      await until(Math.min(calledAt + there, answerAt - this.#serverMillis));
      const answer = await this.#answer(kind, request);
      const dueAt = answerAt + (kind === 'get' ? (answer?.body.length ?? 0) / bytesPerMilli : 0);
      await until(dueAt);
      this.lateMillis.push(performance.now() - dueAt);
      give(outgoing, answer);
    });
    return `http://127.0.0.1:${listenPort}`;
  }

  /** A copy: it doesn't change afterwards. */
  counts(): ProxyCounts {
    return { requests: { ...this.#requests }, lostSwaps: this.#lostSwaps, failures: this.#failures };
  }

  async #answer(kind: RequestClass, request: StoreRequest): Promise<StoreAnswer | undefined> {
    const began = performance.now();
    const answer = await this.#store.forward(request);
    const millis = performance.now() - began;
    this.storeMillis.push(millis);
    this.#serverMillis += (millis - this.#serverMillis) / 16;
    if (kind === 'conditionalPut' && (answer?.status === 412 || answer?.status === 409)) this.#lostSwaps += 1;
    if (answer === undefined || answer.status >= 500) this.#failures += 1;
    return answer;
  }

  #drawMillis(request: StoreRequest): { readonly there: number; readonly whole: number } {
    if (isWrite(request)) {
      const whole = this.#latencyMillis(this.#distance.put) + request.body.length / bytesPerMilli;
      return { there: whole * this.#draw.between(0.5, 1), whole };
    }
    const whole = this.#latencyMillis(this.#distance.get);
    return { there: whole / 2, whole };
  }

  #latencyMillis(latency: Latency): number {
    return this.constant ? latency.medianMillis : this.#draw.lognormal(latency);
  }
}

/** What it is billed as; a HEAD as a GET. */
function classOf(request: StoreRequest): RequestClass {
  const { method, path } = request;
  if (method === 'PUT') return isConditional(request) ? 'conditionalPut' : 'put';
  if (method === 'DELETE') return 'delete';
  if (method === 'GET' || method === 'HEAD') return /[?&]list-type=/.test(path) ? 'list' : 'get';
  throw new Error(`okuri has no use for ${method} ${path}`);
}

export function countsBetween(before: ProxyCounts, after: ProxyCounts): ProxyCounts {
  const requests = { ...after.requests };
  for (const kind of REQUEST_CLASSES) requests[kind] -= before.requests[kind];
  return {
    requests,
    lostSwaps: after.lostSwaps - before.lostSwaps,
    failures: after.failures - before.failures,
  };
}

async function until(dueMillis: number): Promise<void> {
  const millis = dueMillis - performance.now();
  if (millis > 0) await sleep(millis);
}
