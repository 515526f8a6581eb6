import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Delete,
  type Delivery,
  deadLetterRule,
  type History,
  type Send,
  violationsOf,
} from './history.ts';
import { deadLetterViolations } from './history-dead-letters.ts';

/** Times in milliseconds; leases and delays are long against the slack that clocks get. */
const sent: Send = { body: 'a', messageId: 'id-a', delaySeconds: 0, began: 0, ended: 1 };
const delivery = (receiveCount: number, began: number, rest: Partial<Delivery> = {}): Delivery => ({
  body: 'a',
  messageId: 'id-a',
  receiptHandle: `handle-${receiveCount}`,
  receiveCount,
  visibilitySeconds: 10,
  began,
  ended: began + 1,
  ...rest,
});
const deleted = (receiveCount: number, began: number): Delete => ({
  receiptHandle: `handle-${receiveCount}`,
  began,
  ended: began + 1,
  acknowledged: true,
});
const erased = (began: number, acknowledged = true) => ({ began, ended: began + 10, acknowledged });
const rules = (history: Partial<History>): readonly string[] =>
  violationsOf({ sends: [sent], deliveries: [], deletes: [], lostReceives: [], ...history }).map(
    (violation) => violation.rule,
  );

const held = 'no message is delivered while another delivery holds it';
const delayed = 'no message is delivered before its delay is over';
const comesBack = 'no message comes back after its delete was answered';
const goesUndeleted = 'no message goes without a delete that could take effect';
const lost = 'an acknowledged send is received';
const outlives = 'no message outlives a purge or its queue';

describe('a lease', () => {
  it('may be followed by another delivery when it is over', () => {
    const deliveries = [delivery(1, 100), delivery(2, 10_200)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(2, 10_300)] }), []);
  });
  it('is broken by a delivery before its end', () => {
    const deliveries = [delivery(1, 100), delivery(2, 5_000)];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(2, 5_100)] }), [held]);
  });
  it('may be ended by a visibility change', () => {
    const deliveries = [delivery(1, 100), delivery(2, 5_000)];
    const visibilityChanges = [{ receiptHandle: 'handle-1', began: 4_000, seconds: 0 }];
    assert.deepEqual(rules({ deliveries, visibilityChanges, deletes: [deleted(2, 5_100)] }), []);
  });
  it('is not ended by the visibility change of another handle', () => {
    const deliveries = [delivery(1, 100), delivery(2, 5_000)];
    const visibilityChanges = [{ receiptHandle: 'handle-2', began: 4_000, seconds: 0 }];
    assert.deepEqual(rules({ deliveries, visibilityChanges, deletes: [deleted(2, 5_100)] }), [held]);
  });
});

describe('a delay', () => {
  it('may be over', () => {
    const sends = [{ ...sent, delaySeconds: 3 }];
    assert.deepEqual(rules({ sends, deliveries: [delivery(1, 3_100)], deletes: [deleted(1, 3_200)] }), []);
  });
  it('is broken by a delivery before its end', () => {
    const sends = [{ ...sent, delaySeconds: 3 }];
    const seen = rules({ sends, deliveries: [delivery(1, 1_000)], deletes: [deleted(1, 1_100)] });
    assert.deepEqual(seen, [delayed]);
  });
});

describe('a delete while the lease held', () => {
  const deliveries = [delivery(1, 100), delivery(3, 20_000)];
  const deletes = [deleted(1, 5_000), deleted(3, 20_100)];

  it('is final, however many receives were lost', () => {
    const lostReceives = [{ began: 10, ended: 15_000, hungUp: true }];
    assert.deepEqual(rules({ deliveries, deletes, lostReceives }), [comesBack]);
  });
  it('is final also for a poll that had begun before it', () => {
    const polled = [delivery(1, 100), delivery(2, 4_000, { ended: 20_000 })];
    assert.deepEqual(rules({ deliveries: polled, deletes: [deleted(1, 5_000), deleted(2, 20_100)] }), [
      comesBack,
    ]);
  });
  it('is final also when the message comes back as a dead letter', () => {
    const moved = [delivery(3, 100, { queue: 'q' }), delivery(4, 20_000, { queue: 'd' })];
    assert.deepEqual(rules({ deliveries: moved, deletes: [deleted(3, 5_000), deleted(4, 20_100)] }), [
      comesBack,
    ]);
  });
});

describe('a delete after the lease', () => {
  it('may come too late for a message on its way to the dead-letter queue', () => {
    const deliveries = [delivery(3, 100, { queue: 'q' }), delivery(4, 20_000, { queue: 'd' })];
    assert.deepEqual(rules({ deliveries, deletes: [deleted(3, 15_000), deleted(4, 20_100)] }), []);
  });
  it('may come too late because of a delivery that was taken back', () => {
    const deliveries = [delivery(1, 100), delivery(2, 20_000)];
    const deletes = [deleted(1, 15_000), deleted(2, 20_100)];
    const lostReceive = { began: 11_000, ended: 12_000 };
    assert.deepEqual(rules({ deliveries, deletes, lostReceives: [{ ...lostReceive, hungUp: true }] }), []);
    assert.deepEqual(rules({ deliveries, deletes, lostReceives: [lostReceive] }), [comesBack]);
  });
});

describe('an erasure', () => {
  it('may take what was sent before it', () => {
    assert.deepEqual(rules({ erasures: [erased(50)] }), []);
  });
  it('may take what was received before it', () => {
    assert.deepEqual(rules({ erasures: [erased(50)], deliveries: [delivery(1, 20)] }), []);
  });
  it('takes nothing that was sent after it', () => {
    const sends = [{ ...sent, began: 100, ended: 101 }];
    assert.deepEqual(rules({ sends, erasures: [erased(50)] }), [lost]);
    const received = rules({ sends, erasures: [erased(50)], deliveries: [delivery(1, 120)] });
    assert.deepEqual(received, [goesUndeleted]);
  });
  it('without an answer may come later, but not for ever', () => {
    const after = (began: number) => [{ ...sent, began, ended: began + 1 }];
    assert.deepEqual(rules({ sends: after(100), erasures: [erased(50, false)] }), []);
    assert.deepEqual(rules({ sends: after(20_000), erasures: [erased(50, false)] }), [lost]);
  });
  it('leaves nothing that was there when it began', () => {
    const deliveries = [delivery(1, 100)];
    assert.deepEqual(rules({ erasures: [erased(50)], deliveries, deletes: [deleted(1, 110)] }), [outlives]);
  });
  it('may leave what is sent or received while it is on its way', () => {
    const history = { erasures: [erased(50)], deletes: [deleted(1, 110)] };
    const sends = [{ ...sent, ended: 55 }];
    assert.deepEqual(rules({ ...history, sends, deliveries: [delivery(1, 100)] }), []);
    assert.deepEqual(rules({ ...history, deliveries: [delivery(1, 55, { ended: 100 })] }), []);
  });
});

describe('dead letters', () => {
  const pair = { source: 'q', target: 'd', receiveCountMax: 3 };
  const found = (...deliveries: readonly Delivery[]) =>
    deadLetterViolations({ sends: [sent], deliveries, deletes: [], lostReceives: [] }, pair).map(
      ({ rule }) => rule,
    );

  it('are received from the source up to the maximum, then from the target', () => {
    assert.deepEqual(found(delivery(3, 1, { queue: 'q' }), delivery(4, 2, { queue: 'd' })), []);
  });
  it('do not stay at the source', () => {
    assert.deepEqual(found(delivery(4, 1, { queue: 'q' })), [deadLetterRule]);
  });
  it('do not move early', () => {
    assert.deepEqual(found(delivery(3, 1, { queue: 'd' })), [deadLetterRule]);
  });
  it('are not doubled: two copies share their receive counts', () => {
    const deliveries = [
      delivery(4, 1, { queue: 'd' }),
      delivery(4, 20, { queue: 'd', receiptHandle: 'of the copy' }),
    ];
    const seen = rules({ deliveries, deletes: [deleted(4, 10)] });
    assert.ok(seen.includes('a delivery has a receive count of its own'), seen.join());
  });
});
