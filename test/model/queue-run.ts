/**
 * Runs a schedule against src/core and the model side by side and stops at the first difference. Plays the commit
 * loop: answers what a transition needs from a store of segments, throws a transition away when a rival wins, applies
 * it anew with the segments it has uploaded, and collects garbage by the rule of DESIGN.md section 5.
 */
import assert from 'node:assert/strict';
import type { Command } from '../../src/core/command.ts';
import type { LiveBody } from '../../src/core/compaction-layout.ts';
import { countMessages } from '../../src/core/counts.ts';
import type { TransitionTime } from '../../src/core/draft.ts';
import type { Incarnation, WriterId } from '../../src/core/ids.ts';
import { brokenState, brokenStep } from '../../src/core/invariants.ts';
import { type QueueLimits, queueLimits } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { namesPage, type PageContents, type PageKind, PageReader, unfolded } from '../../src/core/pages.ts';
import {
  newQueueState,
  type PageId,
  pageIdOf,
  type QueueState,
  type SegmentId,
  segmentIdOf,
} from '../../src/core/queue-state.ts';
import type {
  MoveSourceView,
  MoveTarget,
  Needs,
  PreparedPage,
  PreparedSegment,
  Resources,
} from '../../src/core/resources.ts';
import { locate, runIndexOf } from '../../src/core/run-index.ts';
import { apply, type TransitionInput } from '../../src/core/transition.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { compareOutcomes, compareStates, type SegmentPlace } from './comparison.ts';
import { Commands, type DrawnCommand } from './drawn-commands.ts';
import { deepFreeze } from './freeze.ts';
import type { ModelWorld } from './model-command.ts';
import { QueueModel } from './queue-model.ts';
import type { Draw, Step } from './script.ts';

const nonce = new Uint8Array(16).fill(7);
const startMillis = 1_700_000_000_000;

/** Pages come and go all the time. */
const paged = {
  ...queueLimits,
  delayedInlineMax: 3,
  delayedPageEntries: 2,
  leaseInlineMax: 3,
  leasePageEntries: 2,
};

interface Batch {
  readonly drawn: readonly DrawnCommand[];
  readonly commands: readonly Command[];
  readonly writer: number;
  readonly unreadable: SegmentId | undefined;
  readonly loaded: Set<SegmentId>;
  readonly targets: Map<string, MoveTarget>;
  readonly sources: Map<Incarnation, MoveSourceView>;
  /** The state that `sources` were read after. */
  sourcesVersion: number;
  readonly prepared: PreparedSegment[];
  readonly loadedPages: Set<PageId>;
  readonly preparedPages: PreparedPage[];
}

export class QueueRun {
  state: QueueState;
  readonly #commands = new Commands();
  readonly #limits: QueueLimits;
  readonly #pages = new Map<PageId, PageContents[PageKind]>();
  readonly #segments = new Map<SegmentId, readonly (StoredMessage | undefined)[]>();
  #model = new QueueModel();
  #target: MoveTarget = { kind: 'missing' };
  #now = startMillis;
  #serial = 0;

  /** With pages, unless told: they decide nothing but the turns of message groups. */
  constructor(limits: QueueLimits = paged) {
    this.#limits = limits;
    this.state = deepFreeze(
      newQueueState({
        incarnation: 'a'.repeat(32) as Incarnation,
        attributes: new Map(),
        timeMillis: startMillis,
        stampMillis: startMillis,
      }),
    );
  }

  step(step: Step): void {
    this.#now += step.advance;
    if (step.world === 'target-deleted') this.#target = { kind: 'missing' };
    if (step.world === 'target-created') this.#target = this.#commands.createTarget();
    const batch = this.#batch(step.batch, step);
    for (const rival of step.rivals) {
      // The batch gets as far as its swap, uploads included, and loses.
      this.#applyUntilReady(batch, step);
      const other = this.#batch(rival, { ...step, writer: step.writer + 1 });
      this.#land(other, step);
      this.#now += step.swapMillis;
    }
    this.#land(batch, step);
    this.#checkCounts(step);
  }

  #batch(draws: readonly Draw[], step: Step): Batch {
    const drawn = draws.map((draw) => this.#commands.draw(draw, this.state));
    for (const { upload } of drawn)
      if (upload)
        this.#segments.set(
          upload.id,
          upload.slots.map((slot) => slot && this.#copied(slot)),
        );
    const named = [...this.state.segments.keys()];
    return {
      drawn,
      commands: drawn.map(({ command }) => command),
      writer: step.writer,
      unreadable: step.unreadable === undefined ? undefined : named[step.unreadable % (named.length || 1)],
      loaded: new Set(),
      targets: new Map(),
      sources: new Map(),
      sourcesVersion: 0,
      prepared: [],
      loadedPages: new Set(),
      preparedPages: [],
    };
  }

  /** Undefined: it was left out as dead before, and a page that is not read for this may tell of its number. */
  #copied({ segment, ordinal, sentAtShiftMillis }: LiveBody): StoredMessage | undefined {
    const message = this.#segments.get(segment)![ordinal];
    return message && { ...message, sentAtMillis: message.sentAtMillis + sentAtShiftMillis };
  }

  #time(step: Step): TransitionTime {
    const nowMillis = this.#now + step.clockOffset;
    return {
      nowMillis,
      stampMillis: nowMillis + 50,
      manifestMillis: Math.max(this.state.timeMillis, nowMillis - step.lag),
    };
  }

  #applyUntilReady(batch: Batch, step: Step) {
    for (let round = 0; round < 40; round++) {
      const input: TransitionInput = {
        state: this.state,
        commands: batch.commands,
        time: this.#time(step),
        tokenSeed: this.#seed(),
        writer: { id: `${batch.writer}`.padStart(32, '0') as WriterId, attempt: ++this.#serial },
        resources: this.#resources(batch),
        limits: this.#limits,
        collectBelow: step.collectBack === undefined ? 0 : Math.max(0, this.state.version - step.collectBack),
      };
      const result = apply(input);
      assert.deepEqual(apply(input), result, 'the same input gave another output');
      if (result.kind === 'applied') return { input, result };
      this.#fetch(result.needs, batch);
    }
    return assert.fail('a transition always needs something more');
  }

  #resources(batch: Batch): Resources {
    return {
      body: (segment, ordinal) => {
        if (!batch.loaded.has(segment)) return 'needed';
        if (segment === batch.unreadable) return 'unreadable';
        const messages = this.#segments.get(segment);
        assert.ok(messages, `segment ${segment} was collected and is still in use`);
        const message = messages[ordinal];
        assert.ok(message, `segment ${segment} has no message ${ordinal}`);
        return message;
      },
      groups: () => assert.fail('a standard queue asks for groups'),
      target: (queueName) => batch.targets.get(queueName),
      source: (incarnation) =>
        batch.sourcesVersion === this.state.version ? batch.sources.get(incarnation) : undefined,
      prepared: batch.prepared,
      page: (kind, id) => (batch.loadedPages.has(id) ? this.#page(kind, id) : 'needed'),
      preparedPages: batch.preparedPages,
    };
  }

  readonly #page = <K extends PageKind>(_kind: K, id: PageId): PageContents[K] => {
    const content = this.#pages.get(id);
    assert.ok(content, `page ${id} was collected and is still in use`);
    return content as PageContents[K];
  };

  /** With everything that pages hold. */
  #whole(state = this.state): QueueState {
    return unfolded(state, this.#page);
  }

  #fetch(needs: Needs, batch: Batch): void {
    for (const segment of needs.segments) {
      assert.ok(this.state.segments.has(segment) && !batch.loaded.has(segment), `needs ${segment}`);
      batch.loaded.add(segment);
    }
    for (const id of needs.pages.keys()) {
      assert.ok(!batch.loadedPages.has(id), `needs page ${id}`);
      batch.loadedPages.add(id);
    }
    for (const page of needs.newPages) {
      const named = this.#newName();
      const id = pageIdOf(named);
      this.#pages.set(id, page.content);
      batch.preparedPages.push({ ...page, id, ...named });
    }
    for (const name of needs.targets) {
      assert.ok(!batch.targets.has(name));
      batch.targets.set(name, this.#target);
    }
    if (needs.sources.size > 0 && batch.sourcesVersion !== this.state.version) {
      batch.sources.clear();
      batch.sourcesVersion = this.state.version;
    }
    for (const incarnation of needs.sources.keys())
      batch.sources.set(incarnation, viewOf(batch, incarnation));
    for (const messages of needs.spills) {
      const named = this.#newName();
      const id = segmentIdOf(named);
      this.#segments.set(
        id,
        messages.map(({ message }) => message),
      );
      batch.prepared.push({ id, ...named, bytes: 1 + messages.length, messages });
    }
  }

  #newName(): { baseVersion: number; nonce: string } {
    return { baseVersion: this.state.version, nonce: (++this.#serial).toString(16).padStart(16, '0') };
  }

  #land(batch: Batch, step: Step): void {
    const { input, result } = this.#applyUntilReady(batch, step);
    const world = this.#world(batch, input);
    const model = this.#model.clone();
    const expected = model.apply(
      batch.drawn.map(({ model: command }) => command),
      world,
    );
    compareOutcomes(this.state, result.results, expected);
    assert.equal(
      result.changed,
      expected.some(({ effect }) => effect),
      'changed',
    );
    assert.ok(result.next.kind === 'queue');
    const next = result.next.state;
    if (!result.changed) {
      assert.equal(next, this.state);
      return;
    }
    assert.equal(brokenStep(this.state, next), undefined);
    assert.equal(brokenState(this.#whole(next)), undefined);
    this.#settle(model, next, batch);
    this.#commands.learn(result.results, expected);
    this.#model = model;
    this.state = deepFreeze(next);
    compareStates(this.#whole(), this.#model, (place) => this.#bodyAt(place));
    this.#checkCodec();
    this.#collect();
  }

  #world(batch: Batch, input: TransitionInput): ModelWorld {
    return {
      now: input.time.nowMillis,
      stamp: input.time.stampMillis,
      manifestTime: input.time.manifestMillis,
      version: this.state.version,
      collectBelow: input.collectBelow,
      target: (name) => {
        const target = batch.targets.get(name);
        assert.ok(target, 'the model meets a dead letter whose target was not asked for');
        return target.kind === 'present' ? target.incarnation : 'missing';
      },
      sourceIntents: (source) => {
        const view = batch.sources.get(source as Incarnation)!;
        return view.kind === 'gone' ? 'gone' : view.pending;
      },
      unreadable: (segment) => segment === batch.unreadable,
    };
  }

  /** Tells the model which segment each body went to, after checking the stamp it has there. */
  #settle(model: QueueModel, next: QueueState, batch: Batch): void {
    const index = runIndexOf(next.segments);
    for (const message of model.messages) {
      assert.equal(next.tail.has(message.sequence), !message.spilled, `tail of ${message.sequence}`);
      if (!message.spilled || message.segment !== undefined) continue;
      const place = locate(index, message.sequence);
      assert.ok(place);
      const prepared = batch.prepared.find(({ id }) => id === place.segment);
      assert.ok(prepared, `segment ${place.segment} was not uploaded by this batch`);
      const uploadedAt = prepared.messages[place.ordinal]!.message.sentAtMillis;
      const stamp = uploadedAt + place.run.sentAtShiftMillis;
      assert.equal(stamp, Math.max(uploadedAt, message.sentAt), 'the later stamp is kept');
      model.settle(message.sequence, place.segment, stamp);
    }
    for (const [id, reference] of next.segments)
      if (!this.state.segments.has(id)) assert.equal(reference.sentAtMaxMillis, model.youngest.get(id));
  }

  #bodyAt(place: SegmentPlace): StoredMessage {
    const body = place && this.#segments.get(place.segment)?.[place.ordinal];
    assert.ok(body, 'a live message lost its body');
    return body;
  }

  #checkCodec(): void {
    const decoded = decodeManifestObject(encodeManifest(this.state, nonce));
    assert.ok(decoded.kind === 'ok' && decoded.content.kind === 'queue', 'the manifest does not decode');
    assert.deepEqual(decoded.content.state, this.state);
  }

  /** What no manifest names and no later manifest may name. */
  #collect(): void {
    for (const id of this.#segments.keys())
      if (!this.state.segments.has(id) && Number(id.split('-')[0]) < this.state.collectedBelow)
        this.#segments.delete(id);
    for (const id of this.#pages.keys())
      if (!namesPage(this.state, id) && Number(id.split('-')[0]) < this.state.collectedBelow)
        this.#pages.delete(id);
  }

  #checkCounts(step: Step): void {
    const time = this.#time(step);
    const model = this.#model.clone();
    model.expire({ manifestTime: time.manifestMillis } as ModelWorld);
    assert.deepEqual(
      countMessages(this.state, time, new PageReader(this.#page)),
      model.counts(time.nowMillis),
    );
  }

  /** Of its own for each attempt, and far from every other. */
  #seed(): Uint8Array {
    const seed = new Uint8Array(8);
    new DataView(seed.buffer).setUint32(0, ++this.#serial);
    return seed;
  }
}

function viewOf(batch: Batch, incarnation: Incarnation): MoveSourceView {
  const drawn = batch.drawn.find(({ sourceView }) => sourceView?.incarnation === incarnation);
  return drawn!.sourceView!.view;
}
