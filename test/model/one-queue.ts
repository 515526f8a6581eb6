/**
 * One queue for tests with exact values: commits commands one transition at a time at a clock the test sets, and
 * answers what a transition needs. Every landed step is held against the invariants, and every state is frozen.
 */
import assert from 'node:assert/strict';
import type { Command, CommandOutcome, CommandResult, Leased, NewMessage } from '../../src/core/command.ts';
import { countMessages, type QueueCounts } from '../../src/core/counts.ts';
import type { TransitionTime } from '../../src/core/draft.ts';
import type { GroupHash, Incarnation, WriterId } from '../../src/core/ids.ts';
import { brokenState, brokenStep } from '../../src/core/invariants.ts';
import { queueLimits } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { groupHashesOf } from '../../src/core/message-groups.ts';
import { contentBytesOf } from '../../src/core/message-size.ts';
import { brokenPages } from '../../src/core/page-invariants.ts';
import { type PageContents, type PageKind, PageReader, unfolded } from '../../src/core/pages.ts';
import {
  newQueueState,
  type PageId,
  pageIdOf,
  type QueueState,
  type SegmentId,
  segmentIdOf,
} from '../../src/core/queue-state.ts';
import type { ReceiptHandle } from '../../src/core/receipt-handle.ts';
import type {
  MoveSourceView,
  MoveTarget,
  Needs,
  NewPage,
  PreparedPage,
  PreparedSegment,
} from '../../src/core/resources.ts';
import { apply, type TransitionInput, type TransitionResult } from '../../src/core/transition.ts';
import { isTurnOfOldest } from '../../src/core/visible.ts';
import { deepFreeze } from './freeze.ts';

export const incarnation = 'a'.repeat(32) as Incarnation;
export const otherIncarnation = 'b'.repeat(32) as Incarnation;
export const targetIncarnation = '7'.repeat(32) as Incarnation;
export const sourceIncarnation = '5'.repeat(32) as Incarnation;
export const writer = '1'.repeat(32) as WriterId;
export const sourceArn = 'arn:aws:sqs:us-east-1:000000000000:source';
const deadArn = 'arn:aws:sqs:us-east-1:000000000000:dead';

let serial = 0;

export function newMessage(body = 'body', fields: Partial<NewMessage['content']> = {}): NewMessage {
  const content = { body, attributes: new Map(), traceHeader: undefined, groupId: undefined, ...fields };
  const messageId = `00000000-0000-4000-8000-${(++serial).toString(16).padStart(12, '0')}`;
  return { messageId, senderId: 'AKIDEXAMPLE', content, contentBytes: contentBytesOf(content) };
}

/** A message that takes exactly `bytes` of the tail. */
export function messageOfInlineBytes(bytes: number): NewMessage {
  return newMessage('x'.repeat(bytes - 'AKIDEXAMPLE'.length - 64));
}

export const sendOf = (...messages: NewMessage[]): Command => ({
  kind: 'send',
  entries: messages.map((message) => ({ message, delaySeconds: undefined })),
});
export const receiveOf = (maxMessages = 10, seconds?: number, waits = false): Command => ({
  kind: 'receive',
  maxMessages,
  visibilityTimeoutSeconds: seconds,
  waits,
});
export const deleteOf = (...handles: ReceiptHandle[]): Command => ({ kind: 'delete', handles });
export const releaseOf = (...handles: ReceiptHandle[]): Command => ({ kind: 'release', handles });
export const visibilityOf = (handle: ReceiptHandle, timeoutSeconds: number): Command => ({
  kind: 'change-visibility',
  entries: [{ handle, timeoutSeconds }],
});
export const setOf = (changes: Readonly<Record<string, string>>): Command => ({
  kind: 'set-attributes',
  changes: new Map(Object.entries(changes)),
});
export const purgeOf = (cooldownMillis = 0): Command => ({ kind: 'purge', cooldownMillis });
export const tidyOf = (collectBelow = 0): Command => ({ kind: 'tidy', collectBelow });
export const redrive = (maxReceiveCount: number) => ({
  RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount }),
});

export class OneQueue {
  state: QueueState;
  nowMillis = 1_000_000;
  /** Manifest time; follows the clock when not set. */
  manifestMillis: number | undefined;
  /** How far the upper bound of the store's time is ahead of the clock. */
  stampLeadMillis = 0;
  collectBelow = 0;
  /** What a read of the dead-letter queue shows. */
  target: MoveTarget = { kind: 'present', incarnation: targetIncarnation };
  source: MoveSourceView = { kind: 'gone' };
  readonly unreadable = new Set<SegmentId>();
  readonly unreadablePages = new Set<PageId>();
  readonly segments = new Map<SegmentId, readonly StoredMessage[]>();
  readonly pages = new Map<PageId, PageContents[PageKind]>();
  limits = queueLimits;
  /** What the latest commit asked for on its way. */
  asked: Needs[] = [];
  #attempt = 0;
  readonly #groups = new Map<SegmentId, readonly GroupHash[]>();

  constructor(attributes: Readonly<Record<string, string>> = {}, id = incarnation) {
    this.state = deepFreeze(
      newQueueState({
        incarnation: id,
        attributes: new Map(Object.entries(attributes)),
        timeMillis: this.nowMillis,
        stampMillis: this.nowMillis,
      }),
    );
  }

  get time(): TransitionTime {
    return {
      nowMillis: this.nowMillis,
      stampMillis: this.nowMillis + this.stampLeadMillis,
      manifestMillis: Math.max(this.state.timeMillis, this.manifestMillis ?? this.nowMillis),
    };
  }

  get counts(): QueueCounts {
    return countMessages(this.state, this.time, new PageReader(this.#page));
  }

  input(commands: readonly Command[], prepared: readonly PreparedSegment[] = []): TransitionInput {
    const tokenSeed = new Uint8Array(8);
    new DataView(tokenSeed.buffer).setUint32(0, ++this.#attempt);
    return {
      state: this.state,
      commands,
      time: this.time,
      tokenSeed,
      writer: { id: writer, attempt: this.#attempt },
      resources: {
        body: () => 'needed',
        groups: () => 'needed',
        page: () => 'needed',
        target: () => undefined,
        source: () => undefined,
        prepared,
        preparedPages: [],
      },
      collectBelow: this.collectBelow,
      limits: this.limits,
    };
  }

  readonly #page = <K extends PageKind>(_kind: K, id: PageId) => this.pages.get(id) as PageContents[K];

  /** With what its pages hold. */
  get whole(): QueueState {
    return unfolded(this.state, this.#page);
  }

  /** Applies until nothing is needed; lands nothing. Uploads go into `prepared` and `preparedPages`. */
  attempt(
    commands: readonly Command[],
    prepared: PreparedSegment[] = [],
    preparedPages: PreparedPage[] = [],
  ) {
    this.asked = [];
    const loaded = new Set<SegmentId>();
    const loadedPages = new Set<PageId>();
    let known = false;
    for (let round = 0; round < 100; round++) {
      const result: TransitionResult = apply({
        ...this.input(commands, prepared),
        resources: {
          body: (segment, ordinal) => {
            if (!loaded.has(segment)) return 'needed';
            if (this.unreadable.has(segment)) return 'unreadable';
            return this.segments.get(segment)![ordinal]!;
          },
          groups: (segment) => {
            if (!loaded.has(segment)) return 'needed';
            if (this.unreadable.has(segment)) return 'unreadable';
            return this.#groupsOf(segment);
          },
          page: (kind, id) => {
            if (!loadedPages.has(id)) return 'needed';
            return this.unreadablePages.has(id) ? 'unreadable' : this.#page(kind, id);
          },
          target: () => (known ? this.target : undefined),
          source: () => (known ? this.source : undefined),
          prepared,
          preparedPages,
        },
      });
      if (result.kind === 'applied') return result;
      this.asked.push(result.needs);
      known = true;
      const { segments, groups } = result.needs;
      for (const segment of [...segments, ...groups]) loaded.add(segment);
      for (const id of result.needs.pages.keys()) loadedPages.add(id);
      for (const page of result.needs.newPages) preparedPages.push(this.uploadPage(page));
      for (const messages of result.needs.spills) prepared.push(this.upload(messages));
    }
    return assert.fail('a transition always needs something more');
  }

  #groupsOf(segment: SegmentId): readonly GroupHash[] {
    let hashes = this.#groups.get(segment);
    if (!hashes) {
      hashes = groupHashesOf(this.segments.get(segment)!.map((message) => message?.groupId));
      this.#groups.set(segment, hashes);
    }
    return hashes;
  }

  uploadPage(page: NewPage): PreparedPage {
    const named = { baseVersion: this.state.version, nonce: (++serial).toString(16).padStart(16, '0') };
    const id = pageIdOf(named);
    this.pages.set(id, page.content);
    return { ...page, id, ...named };
  }

  upload(messages: PreparedSegment['messages']): PreparedSegment {
    const nonce = (++serial).toString(16).padStart(16, '0');
    const baseVersion = this.state.version;
    const id = segmentIdOf({ baseVersion, nonce });
    this.segments.set(
      id,
      messages.map(({ message }) => message),
    );
    return { id, baseVersion, nonce, bytes: 1_000 + messages.length, messages };
  }

  /** One transition, landed. */
  commit(...commands: Command[]): readonly CommandResult[] {
    return this.commitPrepared(commands, []);
  }

  commitPrepared(
    commands: readonly Command[],
    prepared: PreparedSegment[],
    preparedPages: PreparedPage[] = [],
  ): readonly CommandResult[] {
    const result = this.attempt(commands, prepared, preparedPages);
    if (!result.changed) return result.results;
    assert.ok(result.next.kind === 'queue');
    assert.equal(brokenStep(this.state, result.next.state), undefined);
    this.state = deepFreeze(result.next.state);
    assert.equal(brokenPages(this.state, this.#page), undefined);
    assert.equal(brokenState(this.whole), undefined);
    assert.equal(brokenPages(this.state, this.#page), undefined);
    return result.results;
  }

  outcome(...commands: Command[]): CommandOutcome {
    return this.commit(...commands).at(-1)!.outcome;
  }

  send(...bodies: string[]): void {
    this.commit(sendOf(...bodies.map((body) => newMessage(body))));
  }

  receive(maxMessages = 10, seconds?: number): readonly Leased[] {
    return leasedOf(this.outcome(receiveOf(maxMessages, seconds)));
  }

  bodies(maxMessages = 10, seconds?: number): string[] {
    return this.receive(maxMessages, seconds).map(({ message }) => message.body);
  }

  /** Commits nothing until the next receive begins with what is visible again (core/visible.ts). */
  letRedeliveriesBegin(): void {
    while (isTurnOfOldest(this.state.version + 1))
      this.commit({ kind: 'set-attributes', changes: new Map() });
  }

  /** The place of every live message, in order. */
  get places(): Record<number, string> {
    const state = this.whole;
    const places: [number, string][] = [];
    for (let i = 0; i < state.ready.length; i += 2)
      for (let n = state.ready[i]!; n < state.ready[i + 1]!; n++) places.push([n, 'ready']);
    for (const place of ['delayed', 'deliveries', 'intents'] as const)
      for (const sequence of state[place].keys()) places.push([sequence, place]);
    return Object.fromEntries(places);
  }
}

export function leasedOf(outcome: CommandOutcome): readonly Leased[] {
  assert.ok(outcome.kind === 'received', outcome.kind);
  return outcome.messages;
}
