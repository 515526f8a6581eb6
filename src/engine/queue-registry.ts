/**
 * The loops of this process by queue name, one for the present incarnation of each, with what tends them: garbage,
 * compaction, moves, move tasks and links. A loop that ends leaves; the next call reads the name afresh.
 */
import { afterwards } from './afterwards.ts';
import type { Landed } from './batch-commit.ts';
import { CommitLoop, type LoopEvents } from './commit-loop.ts';
import { Compactor } from './compactor.ts';
import type { EngineContext } from './context.ts';
import { Garbage } from './garbage.ts';
import { LinkTender } from './link-tender.ts';
import { ManifestRegister, type ObservedQueue } from './manifest-register.ts';
import { Mover } from './mover.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { loopsMax } from './settings.ts';
import { dropMarker } from './task-marker.ts';
import { TaskRunner } from './task-runner.ts';

interface Tended {
  readonly loop: CommitLoop;
  readonly garbage: Garbage;
  readonly compactor: Compactor;
  readonly mover: Mover;
  readonly tasks: TaskRunner;
  readonly links: LinkTender;
}

export class QueueRegistry implements LoopEvents {
  readonly #context: EngineContext;
  readonly #stop: AbortSignal;
  readonly #tended = new Map<string, Tended>();
  readonly #compactions = new OneAtATime();
  readonly #opening = new Map<string, Promise<CommitLoop | undefined>>();

  constructor(context: EngineContext, stop: AbortSignal) {
    this.#context = context;
    this.#stop = stop;
  }

  get loops(): CommitLoop[] {
    return [...this.#tended.values()].map(({ loop }) => loop);
  }

  /** Undefined: there is no such queue now. @throws StoreError, Unavailable */
  async loopFor(name: string): Promise<CommitLoop | undefined> {
    const known = this.#tended.get(name);
    if (known && !known.loop.ended) {
      this.#tended.delete(name);
      this.#tended.set(name, known);
      return known.loop;
    }
    const earlier = await this.#opening.get(name);
    if (earlier && !earlier.ended) return earlier;
    // A read that began before this call may have missed a queue created since. Any that runs now began after it.
    return this.#opening.get(name) ?? this.#startOpening(name);
  }

  #startOpening(name: string): Promise<CommitLoop | undefined> {
    const promise = afterwards(this.#open(name), () => this.#opening.delete(name));
    this.#opening.set(name, promise);
    return promise;
  }

  /** A queue that was just created or read: spares the first call its GET. */
  adopt(name: string, observed: ObservedQueue): CommitLoop {
    const known = this.#tended.get(name);
    if (known && !known.loop.ended && known.loop.view.incarnation === observed.state.incarnation)
      return known.loop;
    // Idle, it might never read again and so never learn that its queue is gone. A receive that still waits enters anew.
    if (known) this.#context.watch.leave(known.loop);
    const loop = new CommitLoop(this.#context, this, name, observed, this.#stop);
    const garbage = new Garbage(this.#context, loop, this.#stop);
    const context = this.#context;
    const tasks = new TaskRunner(
      context,
      loop,
      (id) => void dropMarker(context.environment, name, id),
      this.#stop,
    );
    const mover = new Mover(this.#context, loop, (target) => this.loopFor(target), tasks, this.#stop);
    const links = new LinkTender(this.#context, loop, this.#stop);
    const compactor = new Compactor(this.#context, loop, this.#compactions, this.#stop);
    this.#tended.set(name, { loop, garbage, compactor, mover, tasks, links });
    mover.start(false);
    tasks.start();
    this.#evict(loop);
    return loop;
  }

  /**
   * The longest unused go first; one with anything under way or still to do stays, and so do the bounds of its work. The
   * newest is about to be used: were it forgotten, each call would read the manifest and start a loop beside the others.
   */
  #evict(newest: CommitLoop): void {
    if (this.#tended.size <= loopsMax) return;
    for (const [name, { loop, garbage, compactor, mover, tasks, links }] of this.#tended) {
      if (this.#tended.size <= loopsMax) return;
      if (loop === newest || !loop.forgettable || !garbage.idle || !mover.idle || !links.idle) continue;
      if (!compactor.idle || !tasks.idle) continue;
      compactor.end();
      this.#tended.delete(name);
      this.#context.watch.leave(loop);
    }
  }

  changed(loop: CommitLoop, landed: Landed | undefined): void {
    const tended = this.#tended.get(loop.view.name);
    if (tended?.loop !== loop) return;
    if (landed) {
      tended.garbage.landed(landed);
      tended.compactor.landed(landed);
    }
    tended.mover.start(landed !== undefined && madeIntents(landed));
    tended.tasks.start();
    tended.links.start();
  }

  ended(loop: CommitLoop, landed: Landed | undefined): void {
    this.#context.watch.leave(loop);
    const tended = this.#tended.get(loop.view.name);
    if (tended?.loop !== loop) return;
    if (landed) tended.garbage.landed(landed);
    this.#tended.delete(loop.view.name);
  }

  async #open(name: string): Promise<CommitLoop | undefined> {
    await this.#context.time.prime(this.#context.environment.store);
    const observed = await new ManifestRegister(this.#context.environment, name).readQueue();
    return observed && this.adopt(name, observed);
  }
}

function madeIntents({ before, next }: Landed): boolean {
  if (next.kind !== 'queue') return false;
  for (const sequence of next.state.intents.keys()) if (!before.intents.has(sequence)) return true;
  return false;
}
