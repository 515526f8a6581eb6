/**
 * Forgets the links of moves whose other end is gone (core/redrive.ts `forgetLinks`). A link is kept for each pair of
 * incarnations, and nothing else ends it when its queue is deleted in peace: a dead-letter queue shared by queues
 * that come and go would carry them all in every manifest for ever.
 *
 * Checks are paid for by growth: one GET a name once there are `linksMin` links, and again only when there are twice as
 * many as the last check left. So an ordinary pair of queues never causes a GET. What a check takes for gone is gone
 * for ever: the incarnation was there before its link was, and none comes back.
 */

import type { Incarnation } from '../core/ids.ts';
import type { QueueState } from '../core/queue-state.ts';
import { afterwards } from './afterwards.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import { ManifestRegister } from './manifest-register.ts';
import { Unavailable } from './queue-api.ts';

/** About 100 bytes each: this many weigh nothing in a manifest. */
const linksMin = 16;
/** Before each check: processes that share a queue don't all check at once, and a store that is down is left alone. */
const restMillis = 60_000;
const readsAtOnceMax = 8;

type Links = QueueState['incomingLinks'];

export class LinkTender {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #stop: AbortSignal;
  #toleratedCount = linksMin;
  #running = false;

  constructor(context: EngineContext, loop: CommitLoop, stop: AbortSignal) {
    this.#context = context;
    this.#loop = loop;
    this.#stop = stop;
  }

  get idle(): boolean {
    return !this.#running;
  }

  /** After every change of the state. */
  start(): void {
    if (this.#running || !this.#isDue()) return;
    this.#running = true;
    void afterwards(this.#run(), () => {
      this.#running = false;
    });
  }

  #isDue(): boolean {
    return !this.#isOver() && this.#count() > this.#toleratedCount;
  }

  #isOver(): boolean {
    return this.#stop.aborted || this.#loop.ended;
  }

  #count(): number {
    const { incomingLinks, outgoingLinks } = this.#loop.view.current.state;
    return incomingLinks.size + outgoingLinks.size;
  }

  async #run(): Promise<void> {
    const { clock, random, log } = this.#context.environment;
    while (this.#isDue()) {
      await clock.sleep(restMillis * (0.5 + random.unit() / 2), this.#stop);
      if (!this.#isDue()) return;
      try {
        await this.#check();
      } catch (error) {
        log.warn('links to deleted queues stay for now', { queue: this.#loop.view.name, error });
      }
    }
  }

  /** @throws StoreError, Unavailable */
  async #check(): Promise<void> {
    const { incomingLinks, outgoingLinks } = this.#loop.view.current.state;
    const names = new Set<string>();
    for (const links of [incomingLinks, outgoingLinks])
      for (const { queueName } of links.values()) names.add(queueName);
    const present = await this.#present([...names]);
    if (!present) return;
    const incoming = goneOf(incomingLinks, present);
    const outgoing = goneOf(outgoingLinks, present);
    if (incoming.length + outgoing.length > 0)
      await this.#loop.submit({ kind: 'forget-links', incoming, outgoing });
    this.#toleratedCount = Math.max(linksMin, 2 * this.#count());
  }

  /** What each name holds now; undefined when it is time to stop. */
  async #present(names: readonly string[]): Promise<ReadonlyMap<string, Present> | undefined> {
    const present = new Map<string, Present>();
    for (let at = 0; at < names.length; at += readsAtOnceMax) {
      if (this.#isOver()) return undefined;
      const chunk = names.slice(at, at + readsAtOnceMax);
      await Promise.all(chunk.map(async (name) => present.set(name, await this.#presentOf(name))));
    }
    return present;
  }

  async #presentOf(name: string): Promise<Present> {
    try {
      const observed = await new ManifestRegister(this.#context.environment, name).readQueue();
      return observed?.state.incarnation ?? 'none';
    } catch (error) {
      // One manifest that is damaged or newer than we are must not keep all the other links.
      if (error instanceof Unavailable) return 'unreadable';
      throw error;
    }
  }
}

type Present = Incarnation | 'none' | 'unreadable';

function goneOf(links: Links, present: ReadonlyMap<string, Present>): Incarnation[] {
  return [...links.entries()].flatMap(([incarnation, { queueName }]) => {
    const now = present.get(queueName);
    return now === incarnation || now === 'unreadable' ? [] : [incarnation];
  });
}
