import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Delete, type Delivery, type History, type Send, violationsOf } from './history.ts';

const sent: Send = { body: 'a', messageId: 'id-a', began: 0, ended: 1 };
const delivery = (receiveCount: number, began: number, ended = began + 1): Delivery => ({
  body: 'a',
  messageId: 'id-a',
  receiptHandle: `handle-${receiveCount}`,
  receiveCount,
  began,
  ended,
});
const deleted = (receiveCount: number, began: number, ended = began + 1, acknowledged = true): Delete => ({
  receiptHandle: `handle-${receiveCount}`,
  began,
  ended,
  acknowledged,
});
const rules = (history: Partial<History>): readonly string[] =>
  violationsOf({ sends: [sent], deliveries: [], deletes: [], lostReceives: [], ...history }).map(
    (violation) => violation.rule,
  );

const comesBack = 'no message comes back after its delete was answered';
const goesUndeleted = 'no message goes without a delete that could take effect';

describe('a history without violations', () => {
  it('may be a send, a delivery and a delete', () => {
    assert.deepEqual(rules({ deliveries: [delivery(1, 2)], deletes: [deleted(1, 4)] }), []);
  });
  it('may lack a message whose send had no answer', () => {
    assert.deepEqual(rules({ sends: [{ ...sent, messageId: undefined }] }), []);
  });
  it('may deliver a message whose send had no answer', () => {
    const sends = [{ ...sent, messageId: undefined }];
    assert.deepEqual(rules({ sends, deliveries: [delivery(1, 2)], deletes: [deleted(1, 4)] }), []);
  });
  it('may deliver again after a delete without an answer', () => {
    const deletes = [deleted(1, 4, 5, false), deleted(2, 60)];
    assert.deepEqual(rules({ deliveries: [delivery(1, 2), delivery(2, 50)], deletes }), []);
  });
  it('may deliver again after a delete that a later delivery can have superseded', () => {
    const deliveries = [delivery(1, 2), delivery(2, 39, 41), delivery(3, 80)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(1, 38, 40), deleted(3, 90)] }), []);
  });
  it('may deliver again after a delete that an unseen delivery can have superseded', () => {
    const deliveries = [delivery(1, 2), delivery(3, 80)];
    const deletes = [deleted(1, 40), deleted(3, 90)];
    assert.deepEqual(rules({ deliveries, deletes, lostReceives: [{ began: 30, ended: 35 }] }), []);
  });
  it('may end by a delete without an answer', () => {
    assert.deepEqual(rules({ deliveries: [delivery(1, 2)], deletes: [deleted(1, 4, 5, false)] }), []);
  });
});

describe('a history is refused', () => {
  it('when an acknowledged send is never received', () => {
    assert.deepEqual(rules({}), ['an acknowledged send is received']);
  });
  it('when a message was never sent', () => {
    const deliveries = [{ ...delivery(1, 2), body: 'b' }];
    const seen = rules({ sends: [], deliveries, deletes: [deleted(1, 4)] });
    assert.deepEqual(seen, ['nothing is received that nobody sent']);
  });
  it('when one send made two messages', () => {
    const deliveries = [delivery(1, 2), { ...delivery(2, 10), messageId: 'id-b' }];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(2, 20)] }), ['a send makes one message']);
  });
  it('when the message is not the one of the answer', () => {
    const deliveries = [{ ...delivery(1, 2), messageId: 'id-b' }];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(1, 4)] }), ['a send makes one message']);
  });
  it('when two deliveries have one receive count', () => {
    const deliveries = [delivery(1, 2), { ...delivery(1, 3), receiptHandle: 'another' }];
    const seen = rules({ deliveries, deletes: [deleted(1, 3)] });
    assert.deepEqual(seen, ['a delivery has a receive count of its own']);
  });
  it('when receive counts fall', () => {
    const deliveries = [delivery(2, 2), delivery(1, 50)];
    const deletes = [deleted(2, 60)];
    assert.deepEqual(rules({ deliveries, deletes }), ['receive counts rise with time']);
  });
  it('when a message comes back after its delete was answered', () => {
    const deliveries = [delivery(1, 2), delivery(2, 50)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(1, 4), deleted(2, 60)] }), [comesBack]);
  });
  it('when it comes back and only receives that began later were lost', () => {
    const deliveries = [delivery(1, 2), delivery(3, 80)];
    const deletes = [deleted(1, 40), deleted(3, 90)];
    assert.deepEqual(rules({ deliveries, deletes, lostReceives: [{ began: 42, ended: 43 }] }), [comesBack]);
  });
  it('when it comes back and the counts leave no room for an unseen delivery', () => {
    const deliveries = [delivery(1, 2), delivery(2, 80)];
    const deletes = [deleted(1, 40), deleted(2, 90)];
    assert.deepEqual(rules({ deliveries, deletes, lostReceives: [{ began: 30, ended: 35 }] }), [comesBack]);
  });
  it('when a message goes without any delete', () => {
    assert.deepEqual(rules({ deliveries: [delivery(1, 2)] }), [goesUndeleted]);
  });
  it('when a superseded delete took the message from its new holder', () => {
    const deliveries = [delivery(1, 2), delivery(2, 50, 51)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(1, 60)] }), [goesUndeleted]);
  });
});
