import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { queueStateArbitrary } from '../../test/arbitraries/queue-state.ts';
import {
  messageOfInlineBytes,
  OneQueue,
  otherIncarnation,
  redrive,
  sendOf,
  sourceArn,
  sourceIncarnation,
  targetIncarnation,
} from '../../test/model/one-queue.ts';
import { brokenState, brokenStep } from './invariants.ts';
import { TAIL_BYTES_MAX, WRITERS_MAX } from './limits.ts';
import type { QueueState, SegmentId } from './queue-state.ts';
import { add, type RangeSet, rangesOf } from './range-set.ts';

/** Two steps of a queue that has everything: an inline message, a segment, an intent, links both ways. */
function steps(): { readonly current: QueueState; readonly next: QueueState } {
  const queue = new OneQueue(redrive(1));
  queue.commit(sendOf(...Array.from({ length: 5 }, () => messageOfInlineBytes(TAIL_BYTES_MAX / 4))));
  queue.receive(1, 0);
  queue.receive(1, 60);
  queue.source = { kind: 'present', pending: new Set([1]) };
  queue.commit({
    kind: 'append-moved',
    source: { name: 'source', incarnation: sourceIncarnation, arn: sourceArn },
    messages: [
      {
        number: 1,
        message: { ...queue.receive(1)[0]!.message, messageId: '00000000-0000-4000-8000-00000000ffff' },
        contentBytes: 5,
        receiveCount: 1,
        firstReceivedAtMillis: 1,
      },
    ],
  });
  queue.commit({ kind: 'purge', cooldownMillis: 0 }, sendOf(messageOfInlineBytes(90)));
  queue.commit(sendOf(messageOfInlineBytes(TAIL_BYTES_MAX / 8)));
  const current = queue.state;
  queue.commit(sendOf(messageOfInlineBytes(100_000)));
  return { current, next: queue.state };
}

const { current, next } = steps();
const [oldSegment] = current.segments.keys();
const newSegment = [...next.segments.keys()].find((id) => !current.segments.has(id))!;

describe('a step', () => {
  const broken: readonly (readonly [string, Partial<QueueState>, RegExp])[] = [
    ['another incarnation', { incarnation: otherIncarnation }, /incarnation changed/],
    ['a version left out', { version: next.version + 1 }, /version did not rise by one/],
    ['the same version', { version: current.version }, /version did not rise by one/],
    ['a time before', { timeMillis: current.timeMillis - 1 }, /manifest time went backwards/],
    [
      'a sequence number given twice',
      { nextSequence: current.nextSequence - 1 },
      /next sequence number fell/,
    ],
    ['a purge undone', { purgeWatermark: current.purgeWatermark - 1 }, /purge watermark fell/],
    ['a purge of the future', { purgeWatermark: next.nextSequence + 1 }, /above every sequence number/],
    ['a version collected that is yet to come', { collectedBelow: current.version + 1 }, /above the base/],
    ['a floor that fell', { writersFloor: -1 }, /floor of the writers fell/],
    [
      'too many writers',
      { writers: Array.from({ length: WRITERS_MAX + 1 }, () => next.writers[0]!) },
      /too many writers/,
    ],
    ['no writer of its own', { writers: current.writers }, /no writer entered itself/],
    [
      'an outgoing link that went back',
      { outgoingLinks: new Map([[targetIncarnation, { queueName: 'dead', lastNumber: 0 }]]) },
      /outgoing link went backwards/,
    ],
    [
      'an incoming link that went back',
      { incomingLinks: new Map([[sourceIncarnation, { queueName: 'source', lastNumber: 0 }]]) },
      /incoming link went backwards/,
    ],
  ];
  for (const [name, change, reason] of broken)
    it(`is stopped for ${name}`, () => {
      assert.equal(brokenStep(current, next), undefined);
      assert.match(brokenStep(current, { ...next, ...change }) ?? 'nothing', reason);
    });

  it('is stopped when collectedBelow falls', () => {
    const raised = { ...current, collectedBelow: 2 };
    assert.match(brokenStep(raised, { ...next, collectedBelow: 1 }) ?? '', /collectedBelow fell/);
  });

  it('is stopped for a new segment below collectedBelow, not for one that was named before', () => {
    const { baseVersion } = next.segments.get(newSegment)!;
    assert.equal(baseVersion, current.version);
    assert.equal(brokenStep(current, { ...next, collectedBelow: baseVersion }), undefined);
    const older = new Map(next.segments).set(newSegment, {
      ...next.segments.get(newSegment)!,
      baseVersion: baseVersion - 1,
    });
    assert.match(
      brokenStep(current, { ...next, segments: older, collectedBelow: baseVersion }) ?? '',
      /is new and its base version is below collectedBelow/,
    );
  });

  it('may drop a link, begin one, and raise the floor', () => {
    const bare = {
      ...next,
      outgoingLinks: new Map([[otherIncarnation, { queueName: 'x', lastNumber: 1 }]]),
      incomingLinks: new Map(),
      writersFloor: current.writersFloor + 5,
    };
    assert.equal(brokenStep(current, bare), undefined);
  });
});

describe('a state', () => {
  it('passes when it is one that the tests of the codec make up', () => {
    fc.assert(fc.property(queueStateArbitrary, (state) => assert.equal(brokenState(state), undefined)));
  });

  const [intent] = next.intents.keys();
  const inTail = [...next.tail.keys()];
  const [first, second] = inTail as [number, number];
  const large = next.nextSequence - 1;
  const segments = (id: SegmentId, change: Partial<ReturnType<typeof reference>>) =>
    new Map(next.segments).set(id, { ...reference(id), ...change });
  const reference = (id: SegmentId) => next.segments.get(id)!;

  const broken: readonly (readonly [string, Partial<QueueState>, RegExp])[] = [
    ['ranges that touch', { ready: [6, 7, 7, 8] as unknown as RangeSet }, /not well formed/],
    ['a message in two places', { delayed: new Map([[first, 0]]) }, /in two places/],
    ['a sequence number never given', { ready: add(next.ready, next.nextSequence) }, /never given/],
    ['a message that was purged', { ready: add(next.ready, next.purgeWatermark - 1) }, /was purged/],
    [
      'a live message without a body',
      { tail: new Map([...next.tail].filter(([sequence]) => sequence !== first)) },
      /has no body/,
    ],
    [
      'a body in two places',
      {
        tail: new Map([...next.tail, [large, next.tail.get(first)!]]),
      },
      /two bodies/,
    ],
    [
      'a body of nothing',
      { ready: rangesOf(second, next.nextSequence) },
      /the tail holds sequence \d+, which is not live/,
    ],
    ['a tail out of order', { tail: new Map([...next.tail].reverse()) }, /not in order/],
    ['an intent whose link was dropped', { outgoingLinks: new Map() }, /a number that its link never gave/],
    [
      'a live count too high',
      { segments: segments(newSegment, { liveCount: 2 }) },
      /counts 2 live messages, not 1/,
    ],
    [
      'a number in runs of two segments',
      {
        segments: segments(newSegment, {
          runs: [...reference(oldSegment!).runs, ...reference(newSegment).runs],
        }),
      },
      /two runs hold/,
    ],
    [
      'a segment without a live message',
      { intents: new Map(), segments: segments(oldSegment!, { liveCount: 0 }) },
      /counts 0 live messages/,
    ],
  ];
  for (const [name, change, reason] of broken)
    it(`is refused with ${name}`, () => {
      assert.equal(brokenState(next), undefined);
      assert.match(brokenState({ ...next, ...change }) ?? 'nothing', reason);
    });

  it('may hold an intent from before a purge', () => {
    assert.ok(intent !== undefined && intent < next.purgeWatermark);
  });
});
