/**
 * A proxy of single HTTP requests before a real S3 server, with one door for each node, that does to them what
 * store-faults.ts draws. Requests go on byte by byte as they were signed, so a copy sent later is as good as the first.
 *
 * A late write outlives the node that sent it, and so does a repeated one.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenOn, StoreForwarder } from './forwarding.ts';
import { pause } from './okuri-process.ts';
import { breakOff, give, hold, received, type StoreAnswer, stall } from './proxy-answers.ts';
import type { SeededRandom } from './random.ts';
import {
  calm,
  drawFault,
  drawLateness,
  drawRegime,
  errorBody,
  type FaultKind,
  isConditional,
  type Regime,
  type StoreRequest,
  statusOf,
} from './store-faults.ts';

/** `silent`: nothing comes through and nothing is said; `reset`: connections break at once. */
export type CutMode = 'silent' | 'reset';

export interface Door {
  readonly endpoint: string;
  /** While closed to faults, everything passes as it is: a node starts up on a store that works. */
  spared: boolean;
  /** Cuts the node off for a time; what is under way is lost too. */
  cut(mode: CutMode, millis: number): void;
}

/** How many of the writes to manifests are kept, to be sent once more at the end. */
const keptWrites = 400;
/** versitygw refuses a signature of 15 minutes ago, and then a copy proves nothing. */
const signatureMillis = 14 * 60_000;

export class FaultProxy {
  readonly counts = new Map<string, number>();
  readonly #store: StoreForwarder;
  readonly #random: SeededRandom;
  readonly #doors: FaultyDoor[] = [];
  readonly #late = new Set<() => Promise<void>>();
  readonly #kept: { readonly request: StoreRequest; readonly sentAt: number }[] = [];
  #keptOf = 0;
  #regime: Regime = calm;
  #healed = false;

  constructor(targetPort: number, random: SeededRandom) {
    this.#store = new StoreForwarder(targetPort);
    this.#random = random;
  }

  /** Listens on the loopback address for as long as this process lives. */
  async door(listenPort: number): Promise<Door> {
    const door = new FaultyDoor(`http://127.0.0.1:${listenPort}`);
    this.#doors.push(door);
    await listenOn(listenPort, (incoming, outgoing) => this.#serve(door, incoming, outgoing));
    return door;
  }

  changeRegime(): void {
    this.#regime = drawRegime(this.#random);
  }

  /** No fault from now on; what was held back comes to the store, all at once. */
  async heal(): Promise<void> {
    this.#regime = calm;
    this.#healed = true;
    for (const door of this.#doors) door.mend();
    await Promise.all([...this.#late].map((send) => send()));
  }

  /** Sends old writes to manifests again. @returns how many, and those that the store took. */
  async replay(): Promise<{ readonly sent: number; readonly taken: readonly string[] }> {
    const fresh = this.#kept.filter(({ sentAt }) => performance.now() - sentAt < signatureMillis);
    const taken: string[] = [];
    for (const { request } of fresh) {
      const answer = await this.#forward(request);
      if (answer === undefined || answer.status < 300) taken.push(`${request.path}: ${answer?.status}`);
    }
    return { sent: fresh.length, taken };
  }

  async #serve(door: FaultyDoor, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await received(incoming);
    if (door.spared) {
      give(outgoing, await this.#forward(request));
      return;
    }
    this.#count('requests');
    this.#keep(request);
    if (await door.isCut()) {
      this.#count('cut off before the store');
      return breakOff(outgoing);
    }
    const kind = drawFault(this.#regime, request, this.#random);
    if (kind === undefined) return this.#deliver(door, outgoing, await this.#forward(request));
    this.#count(kind);
    await this.#inflict(kind, door, request, outgoing);
  }

  async #inflict(
    kind: FaultKind,
    door: FaultyDoor,
    request: StoreRequest,
    outgoing: ServerResponse,
  ): Promise<void> {
    switch (kind) {
      case 'request lost':
        return breakOff(outgoing);
      case 'write cut off halfway':
        await this.#forwardHalf(request);
        return breakOff(outgoing);
      case 'answer lost':
        await this.#forward(request);
        return breakOff(outgoing);
      case 'answer stalled':
        return stall(outgoing, await this.#forward(request));
      case 'slow request':
        await pause(this.#random.between(100, 3_000));
        return this.#deliver(door, outgoing, await this.#forward(request));
      case 'slow answer': {
        const answer = await this.#forward(request);
        await pause(this.#random.between(100, 3_000));
        return this.#deliver(door, outgoing, answer);
      }
      case 'write repeated later':
        this.#sendLater(request, kind);
        return this.#deliver(door, outgoing, await this.#forward(request));
      case 'write late':
        this.#sendLater(request, kind);
        return breakOff(outgoing);
      case 'write late, client waits':
        await hold(outgoing);
        this.#sendLater(request, kind);
        return;
      default:
        return this.#lie(kind, request, outgoing);
    }
  }

  /** Refusals are answered without the store; the others instead of its answer, when that was a success. */
  async #lie(kind: FaultKind, request: StoreRequest, outgoing: ServerResponse): Promise<void> {
    const status = statusOf(kind);
    if (kind.endsWith('though done')) {
      const answer = await this.#forward(request);
      if (answer === undefined || answer.status >= 300) return give(outgoing, answer);
    }
    const body = Buffer.from(request.method === 'HEAD' ? '' : errorBody(status));
    give(outgoing, { status, rawHeaders: ['Content-Type', 'application/xml'], body });
  }

  /** A cut that began meanwhile loses the answer. */
  async #deliver(door: FaultyDoor, outgoing: ServerResponse, answer: StoreAnswer | undefined): Promise<void> {
    if (!(await door.isCut())) return give(outgoing, answer);
    this.#count('cut off before the client');
    breakOff(outgoing);
  }

  #sendLater(request: StoreRequest, kind: FaultKind): void {
    let begun = false;
    const send = async () => {
      if (begun) return;
      begun = true;
      const answer = await this.#forward(request);
      this.#late.delete(send);
      this.#count(`${kind}: ${answer !== undefined && answer.status < 300 ? 'took effect' : 'refused'}`);
    };
    if (this.#healed) return void send();
    this.#late.add(send);
    setTimeout(send, drawLateness(this.#random)).unref();
  }

  /** An even sample of all of them. */
  #keep(request: StoreRequest): void {
    if (request.method !== 'PUT' || !isConditional(request) || !request.path.includes('/m/')) return;
    this.#keptOf += 1;
    const entry = { request, sentAt: performance.now() };
    if (this.#kept.length < keptWrites) this.#kept.push(entry);
    else if (this.#random.chance(keptWrites / this.#keptOf))
      this.#kept[this.#random.between(0, keptWrites - 1)] = entry;
  }

  async #forwardHalf(request: StoreRequest): Promise<void> {
    const outgoing = this.#store.open(request);
    outgoing.on('error', () => {});
    outgoing.write(request.body.subarray(0, request.body.length / 2));
    await pause(20);
    outgoing.destroy();
  }

  /** Undefined: the store itself broke off. */
  async #forward(request: StoreRequest): Promise<StoreAnswer | undefined> {
    const answer = await this.#store.forward(request);
    if (answer === undefined) this.#count('the store itself broke off');
    return answer;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

class FaultyDoor implements Door {
  readonly endpoint: string;
  spared = false;
  #cutUntil = 0;
  #mode: CutMode = 'reset';

  constructor(endpoint: string) {
    this.endpoint = endpoint;
  }

  cut(mode: CutMode, millis: number): void {
    this.#mode = mode;
    this.#cutUntil = performance.now() + millis;
  }

  mend(): void {
    this.#cutUntil = 0;
  }

  /** A silent cut answers only when it is over. */
  async isCut(): Promise<boolean> {
    if (performance.now() >= this.#cutUntil) return false;
    while (this.#mode === 'silent' && performance.now() < this.#cutUntil) await pause(100);
    return true;
  }
}
