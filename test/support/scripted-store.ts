/**
 * One process's connection to a store that others share: takes virtual time, counts requests, and does to chosen
 * ones what networks do. A fault sees `land`, which lets the request take effect (any number of times: a proxy's
 * copy), and returns what the client is told.
 */
import {
  type DeleteIfMatchOutcome,
  type DeleteOutcome,
  type ETag,
  type GetOutcome,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
} from '../../src/store/object-store.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Method = keyof ObjectStore;
type Outcome =
  | GetOutcome
  | PutOutcome
  | PutIfAbsentOutcome
  | PutIfMatchOutcome
  | DeleteOutcome
  | DeleteIfMatchOutcome
  | ListPage;

export interface Request {
  readonly method: Method;
  /** Of a LIST: its prefix. */
  readonly key: string;
  readonly land: () => Promise<Outcome>;
}

export type Fault = (request: Request) => Promise<Outcome>;

export interface Selection {
  readonly method: Method;
  /** How the key begins. */
  readonly key: string;
  /** Matching requests to let pass first, counted from now; those that other scripts strike count too. */
  readonly skip?: number;
  /** How many it then strikes; 1 unless told. */
  readonly times?: number;
}

interface Script {
  readonly selection: Selection;
  readonly fault: Fault;
  seen: number;
}

const unknown: PutOutcome = { kind: 'unknown', throttled: false, reason: 'scripted' };

/** It took effect; the answer was lost. */
export const answerLost: Fault = async ({ land }) => {
  await land();
  return unknown;
};
/** It never reached the store, and nobody can tell. */
export const requestLost: Fault = async () => unknown;
/** A proxy sent it twice and passed on the second answer. */
export const sentTwice: Fault = async ({ land }) => {
  await land();
  return land();
};
export const refused: Fault = async () => {
  throw new StoreError('scripted: connection refused', { retryable: true });
};

/** Holds requests back until a test lets them go. */
export class Gate {
  #open!: () => void;
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  #reach!: () => void;
  /** Resolves when a request stands before the gate. */
  readonly reached = new Promise<void>((resolve) => {
    this.#reach = resolve;
  });
  #late: (() => Promise<Outcome>) | undefined;

  open(): void {
    this.#open();
  }

  /** The request waits before it takes effect. */
  readonly before: Fault = async ({ land }) => {
    this.#reach();
    await this.#opened;
    return land();
  };

  /** The request has taken effect; its answer waits. */
  readonly after: Fault = async ({ land }) => {
    const outcome = await land();
    this.#reach();
    await this.#opened;
    return outcome;
  };

  /** The client gives up; the request is still on its way and lands with `landLate`. */
  readonly late: Fault = async ({ land }) => {
    this.#late = land;
    this.#reach();
    return unknown;
  };

  /** The kind of its outcome, which nobody hears of. */
  async landLate(): Promise<string> {
    if (!this.#late) throw new Error('no request was held');
    const outcome = await this.#late();
    return 'kind' in outcome ? outcome.kind : 'listed';
  }
}

export class ScriptedStore implements ObjectStore {
  /** Of one request there and back. */
  latencyMillis = 10;
  /** Every request that was sent, `<method> <key>`. */
  readonly log: string[] = [];
  readonly #inner: ObjectStore;
  readonly #clock: VirtualClock;
  readonly #scripts: Script[] = [];
  #dead = false;
  #down = false;

  constructor(inner: ObjectStore, clock: VirtualClock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  script(selection: Selection, fault: Fault): void {
    this.#scripts.push({ selection, fault, seen: 0 });
  }

  /** From now on everything passes. */
  scriptsEnd(): void {
    this.#scripts.length = 0;
  }

  /** Requests sent so far whose log line begins so. */
  count(beginning = ''): number {
    return this.log.filter((line) => line.startsWith(beginning)).length;
  }

  /** The process is gone: nothing of it takes effect or is answered any more. */
  kill(): void {
    this.#dead = true;
  }

  /** The store does not answer this node. */
  goDown(): void {
    this.#down = true;
  }

  comeBack(): void {
    this.#down = false;
  }

  get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    return this.#send('get', key, () => this.#inner.get(key, options));
  }
  put(key: string, body: Uint8Array): Promise<PutOutcome> {
    return this.#send('put', key, () => this.#inner.put(key, body));
  }
  putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    return this.#send('putIfAbsent', key, () => this.#inner.putIfAbsent(key, body));
  }
  putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    return this.#send('putIfMatch', key, () => this.#inner.putIfMatch(key, body, etag));
  }
  list(request: ListRequest): Promise<ListPage> {
    return this.#send('list', request.prefix, () => this.#inner.list(request));
  }
  delete(key: string): Promise<DeleteOutcome> {
    return this.#send('delete', key, () => this.#inner.delete(key));
  }
  deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    return this.#send('deleteIfMatch', key, () => this.#inner.deleteIfMatch(key, etag));
  }

  async #send<O extends Outcome>(method: Method, key: string, act: () => Promise<O>): Promise<O> {
    this.log.push(`${method} ${key}`);
    await this.#travel();
    if (this.#down) throw new StoreError('the store is down', { retryable: true });
    const land = async (): Promise<O> => (this.#dead ? never : act());
    const fault = this.#faultFor(method, key);
    // A fault is written for its method: it answers with that method's outcomes.
    const outcome = fault ? ((await fault({ method, key, land })) as O) : await land();
    await this.#travel();
    return outcome;
  }

  async #travel(): Promise<void> {
    if (this.#dead) await never;
    await this.#clock.sleep(this.latencyMillis / 2);
    if (this.#dead) await never;
  }

  #faultFor(method: Method, key: string): Fault | undefined {
    let chosen: Fault | undefined;
    for (const script of this.#scripts) {
      const { selection, fault } = script;
      if (selection.method !== method || !key.startsWith(selection.key)) continue;
      const { skip = 0, times = 1 } = selection;
      const turn = script.seen++;
      if (turn >= skip && turn < skip + times) chosen ??= fault;
    }
    return chosen;
  }
}

const never = new Promise<never>(() => undefined);
