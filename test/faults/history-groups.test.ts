import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { violationsOf } from './history.ts';
import {
  type Attempt,
  asHistory,
  type GroupDelete,
  type GroupDelivery,
  type GroupHistory,
  groupViolations,
} from './history-groups.ts';

/** `a1` is the message of group a with sequence number 1. */
const attempt = (id: string, began = 0, more: Partial<Attempt> = {}): Attempt => ({
  id,
  group: id[0]!,
  began,
  ended: began + 1,
  accepted: { messageId: `id-${id}`, sequence: id.slice(1) },
  ...more,
});
const delivery = (
  body: string,
  call: number,
  began: number,
  more: Partial<GroupDelivery> = {},
): GroupDelivery => ({
  body,
  messageId: `id-${body}`,
  receiptHandle: `${body}-${call}`,
  receiveCount: 1,
  group: body[0]!,
  sequence: body.slice(1),
  visibilitySeconds: 10,
  call,
  place: 0,
  began,
  ended: began + 1,
  ...more,
});
const deleted = (
  body: string,
  call: number,
  began: number,
  more: Partial<GroupDelete> = {},
): GroupDelete => ({
  receiptHandle: `${body}-${call}`,
  acknowledged: true,
  refused: false,
  began,
  ended: began + 1,
  ...more,
});
const history = (given: Partial<GroupHistory>): GroupHistory => ({
  attempts: [],
  deliveries: [],
  deletes: [],
  lostReceives: [],
  visibilityChanges: [],
  ...given,
});
const rules = (given: Partial<GroupHistory>): readonly string[] =>
  groupViolations(history(given)).map(({ rule }) => rule);

const overtaken = 'no message is received before what comes before it in its group';
const twoHands = 'no group is in two hands';
const oneMessage = 'a deduplication id is one message';
const second = 1_000;

describe('a history of groups without violations', () => {
  it('may hand out a group one after the other, each after the delete of the last began', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a2', 2, 5)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a1', 1, 4), deleted('a2', 2, 9)] }), []);
  });
  it('may give several of a group to one call, and the earlier ones again when their time is over', () => {
    const deliveries = [
      delivery('a1', 1, 2),
      delivery('a2', 1, 2, { place: 1 }),
      delivery('a1', 2, 12 * second, { receiveCount: 2 }),
    ];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a1', 2, 13 * second)] }), []);
  });
  it('may give one that was given back to another while a later one is out', () => {
    const deliveries = [
      delivery('a1', 1, 2),
      delivery('a2', 1, 2, { place: 1 }),
      delivery('a1', 2, 20, { receiveCount: 2 }),
    ];
    const visibilityChanges = [{ receiptHandle: 'a1-1', began: 10, seconds: 0 }];
    assert.deepEqual(rules({ deliveries, visibilityChanges }), []);
  });
  it('may give a message whose predecessor has a delete without an answer', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a2', 2, 50)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a1', 1, 4, { acknowledged: false })] }), []);
  });
  it('may give other groups while one is held', () => {
    assert.deepEqual(rules({ deliveries: [delivery('a1', 1, 2), delivery('b2', 2, 5)] }), []);
  });
  it('may answer all attempts with the first message', () => {
    const attempts = [attempt('a1'), attempt('a1', 9), attempt('a2', 4), attempt('a1', 90)];
    assert.deepEqual(rules({ attempts, deliveries: [delivery('a1', 1, 2)] }), []);
  });
  it('may give rising numbers in any order to what is sent at the same time', () => {
    assert.deepEqual(rules({ attempts: [attempt('a2', 0), attempt('b1', 1)] }), []);
  });
});

describe('a history of groups is refused', () => {
  it('when a message comes while an earlier one of its group is held by another', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a2', 2, 5)];
    const deletes = [deleted('a1', 1, 50), deleted('a2', 2, 51)];
    assert.deepEqual(rules({ deliveries, deletes }), [overtaken, twoHands]);
  });
  it('when a later message comes first, and the earlier one then', () => {
    const deliveries = [delivery('a2', 1, 2), delivery('a1', 2, 50)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a2', 1, 4), deleted('a1', 2, 60)] }), [
      overtaken,
    ]);
  });
  it('when one answer has a group in the wrong order', () => {
    const deliveries = [delivery('a2', 1, 2), delivery('a1', 1, 2, { place: 1 })];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a1', 1, 4), deleted('a2', 1, 4)] }), [overtaken]);
  });
  it('when a call leaves one out between two of a group', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a3', 1, 2, { place: 1 }), delivery('a2', 2, 50)];
    const deletes = [deleted('a1', 1, 4), deleted('a3', 1, 4), deleted('a2', 2, 60)];
    assert.deepEqual(rules({ deliveries, deletes }), [overtaken]);
  });
  it('when a message comes after an earlier one that expired, and was not deleted', () => {
    const deliveries = [
      delivery('a1', 1, 2),
      delivery('a2', 2, 20 * second),
      delivery('a1', 3, 40 * second, { receiveCount: 2 }),
    ];
    const deletes = [deleted('a2', 2, 21 * second), deleted('a1', 3, 41 * second)];
    assert.deepEqual(rules({ deliveries, deletes }), [overtaken]);
  });
  it('when the delete of the one before was refused', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a2', 2, 20 * second)];
    const deletes = [deleted('a1', 1, 15 * second, { refused: true, acknowledged: false })];
    assert.deepEqual(rules({ deliveries, deletes }), [overtaken]);
  });
  it('when a message is given to another while it is held', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a1', 2, 5, { receiveCount: 2 })];
    assert.deepEqual(rules({ deliveries, deletes: [deleted('a1', 2, 9)] }), [twoHands]);
  });
  it('when two attempts under one id make two messages', () => {
    const again = attempt('a1', 9, { accepted: { messageId: 'another', sequence: '2' } });
    assert.deepEqual(rules({ attempts: [attempt('a1'), again] }), [oneMessage]);
  });
  it('when a duplicate is received as another message, though no attempt was answered', () => {
    const attempts = [{ id: 'a1', group: 'a', began: 0, ended: 1 }];
    const deliveries = [delivery('a1', 1, 2), delivery('a1', 2, 50, { messageId: 'another', sequence: '2' })];
    assert.deepEqual(rules({ attempts, deliveries, deletes: [deleted('a1', 1, 4)] }), [oneMessage]);
  });
  it('when a duplicate is answered with another sequence number', () => {
    const again = attempt('a1', 9, { accepted: { messageId: 'id-a1', sequence: '2' } });
    assert.deepEqual(rules({ attempts: [attempt('a1'), again] }), [oneMessage]);
  });
  it('when a message is received in another group than it was sent to', () => {
    const deliveries = [delivery('a1', 1, 2, { group: 'b' })];
    assert.deepEqual(rules({ attempts: [attempt('a1')], deliveries }), [
      'a message keeps its group, id and sequence number',
    ]);
  });
  it('when two messages have one sequence number', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('b2', 2, 5, { sequence: '1' })];
    assert.deepEqual(rules({ deliveries }), ['a message keeps its group, id and sequence number']);
  });
  it('when what is sent later has a lower number, also of other lengths', () => {
    assert.deepEqual(rules({ attempts: [attempt('a10', 0), attempt('b9', 5)] }), [
      'sequence numbers rise with time',
    ]);
  });
  it('when a message comes back after a delete that was answered, whoever held it', () => {
    const deliveries = [delivery('a1', 1, 2), delivery('a1', 2, 60 * second, { receiveCount: 3 })];
    const deletes = [deleted('a1', 1, 50 * second), deleted('a1', 2, 61 * second)];
    assert.deepEqual(rules({ deliveries, deletes }), [
      'no message comes back after its delete was answered, whoever held it',
    ]);
  });
});

describe('the history of history.ts', () => {
  it('has one send for all attempts of an id, and misses what was acknowledged once', () => {
    const unanswered: Attempt = { id: 'a1', group: 'a', began: 0, ended: 1 };
    const { sends } = asHistory(history({ attempts: [unanswered, attempt('a1', 20)] }));
    assert.deepEqual(sends, [{ body: 'a1', messageId: 'id-a1', began: 0, ended: 21 }]);
    const lost = violationsOf(asHistory(history({ attempts: [unanswered, attempt('a1', 20)] })));
    assert.deepEqual(
      lost.map(({ rule }) => rule),
      ['an acknowledged send is received'],
    );
    assert.deepEqual(violationsOf(asHistory(history({ attempts: [unanswered] }))), []);
  });

  it('does not take a refused delete for the end of a message', () => {
    const given = history({
      attempts: [attempt('a1')],
      deliveries: [delivery('a1', 1, 2)],
      deletes: [deleted('a1', 1, 4, { refused: true, acknowledged: false })],
    });
    assert.deepEqual(
      violationsOf(asHistory(given)).map(({ rule }) => rule),
      ['no message goes without a delete that could take effect'],
    );
  });
});
