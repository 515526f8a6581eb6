/** Feeds what happens to the ledger and to every checker, and keeps the first thing that is wrong. */
import type { ManifestContent, QueueState } from '../../src/core/queue-state.ts';
import { decodeManifestObject } from '../../src/format/manifest-codec.ts';
import { manifestsPrefix } from '../../src/format/object-keys.ts';
import type { RequestOrigin } from './bucket.ts';
import { allCheckers, type Circumstances } from './checkers/all.ts';
import type { DiffChecker } from './checkers/check.ts';
import { GroupScenes } from './group-scenes.ts';
import type { Call, CallAnswer, Landing } from './history.ts';
import { Ledger } from './ledger.ts';
import { PagesOfTheBucket, UnreadablePage } from './pages.ts';
import type { Reached } from './reached.ts';
import { Scenes } from './scenes.ts';
import { TaskScenes } from './task-scenes.ts';

export interface Failure {
  readonly property: string;
  readonly detail: string;
  readonly at: number;
}

export class Court {
  readonly ledger: Ledger;
  failure: Failure | undefined;
  landings = 0;
  readonly scenes: Scenes;
  readonly #checkers: readonly DiffChecker[];
  readonly #contents = new Map<string, ManifestContent>();
  readonly #stored = new Map<string, QueueState>();
  readonly #pages: PagesOfTheBucket;
  readonly #now: () => number;

  constructor(
    now: () => number,
    peek: (key: string) => Uint8Array | undefined,
    reached: Reached,
    world: Circumstances,
  ) {
    this.#now = now;
    this.ledger = new Ledger(peek);
    this.#pages = new PagesOfTheBucket(peek);
    this.scenes = new Scenes(reached, this.ledger, now);
    const groupScenes = new GroupScenes(reached, this.ledger);
    this.#checkers = [...allCheckers(this.ledger, world), this.scenes, groupScenes, new TaskScenes(reached)];
  }

  fail(property: string, detail: string): void {
    this.failure ??= { property, detail, at: this.#now() };
  }

  arrived(call: Call): void {
    this.#ask((checker) => checker.arrived?.(call));
  }

  answered(call: Call, answer: CallAnswer): void {
    this.#ask((checker) => checker.answered?.(call, answer, this.#now()));
  }

  undelivered(answer: CallAnswer): void {
    this.#ask((checker) => checker.undelivered?.(answer));
  }

  /** After the bucket changed. Returns the landing, for the trace. */
  changed(
    { node, sentAt }: RequestOrigin,
    key: string,
    body: Uint8Array | undefined,
    storeMillis: number,
  ): Landing | undefined {
    const at = this.#now();
    if (!key.startsWith(manifestsPrefix)) {
      this.#ask((checker) => checker.object?.({ at, node, key, present: body !== undefined }));
      return undefined;
    }
    const queue = key.slice(manifestsPrefix.length);
    const before = this.#contents.get(key);
    const storedBefore = this.#stored.get(key);
    let after: ManifestContent | undefined;
    this.#contents.delete(key);
    this.#stored.delete(key);
    if (body) {
      const decoded = decodeManifestObject(body, before?.kind === 'queue' ? before.state.tail : undefined);
      if (decoded.kind !== 'ok') {
        this.fail(
          'every manifest can be read',
          `${key}: ${decoded.kind === 'damaged' ? decoded.reason : 'newer'}`,
        );
        return undefined;
      }
      if (decoded.content.kind === 'queue') this.#stored.set(key, decoded.content.state);
      after = this.#whole(queue, decoded.content);
      if (!after) return undefined;
      this.#contents.set(key, after);
    }
    const storedAfter = this.#stored.get(key);
    const bytes = body?.length ?? 0;
    const stored = { storedBefore, storedAfter };
    const landing: Landing = { at, storeMillis, sentAt, node, queue, before, after, ...stored, bytes };
    this.#landed(landing);
    return landing;
  }

  #whole(queue: string, content: ManifestContent): ManifestContent | undefined {
    if (content.kind !== 'queue') return content;
    try {
      return { kind: 'queue', state: this.#pages.whole(queue, content.state) };
    } catch (error) {
      if (!(error instanceof UnreadablePage)) throw error;
      this.fail('every page that is named can be read', error.message);
      return undefined;
    }
  }

  killed(node: number): void {
    for (const checker of this.#checkers) checker.killed?.(node);
  }

  finished(keys: readonly string[]): void {
    this.#ask((checker) => checker.finished?.({ keys }));
  }

  #landed(landing: Landing): void {
    this.landings++;
    const diff = this.ledger.record(landing);
    this.#ask((checker) => checker.landed?.(landing));
    if (typeof diff === 'string') this.fail('messages keep their places', diff);
    else if (diff) this.#ask((checker) => checker.diff?.(diff));
  }

  #ask(question: (checker: DiffChecker) => string | undefined): void {
    if (this.failure) return;
    for (const checker of this.#checkers) {
      const wrong = question(checker);
      if (wrong === undefined) continue;
      this.fail(checker.name, wrong);
      return;
    }
  }
}
