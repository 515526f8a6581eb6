import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OneQueue, setOf } from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import type { PolicyStatement } from './permissions.ts';

const resource = 'arn:aws:sqs:us-east-1:000000000000:q';
const statement = (
  label: string,
  action: string | readonly string[] = 'SQS:SendMessage',
): PolicyStatement => ({
  Sid: label,
  Effect: 'Allow',
  Principal: { AWS: 'arn:aws:iam::111111111111:root' },
  Action: action,
  Resource: resource,
});
const add = (...args: Parameters<typeof statement>): Command => ({
  kind: 'add-permission',
  statement: statement(...args),
});
const remove = (label: string): Command => ({ kind: 'remove-permission', label });
const policyOf = (queue: OneQueue) => queue.state.attributes.get('Policy');
const set = (queue: OneQueue, policy: object) => queue.commit(setOf({ Policy: JSON.stringify(policy) }));

describe('a permission', () => {
  it('begins the policy as AWS does, goes on it, and takes it away with the last', () => {
    const queue = new OneQueue();
    assert.deepEqual(queue.commit(add('one')), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.equal(
      policyOf(queue),
      `{"Version":"2008-10-17","Id":"${resource}/SQSDefaultPolicy","Statement":[{"Sid":"one","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:root"},"Action":"SQS:SendMessage","Resource":"${resource}"}]}`,
    );
    queue.commit(add('two', ['SQS:GetQueueUrl', 'SQS:PurgeQueue']));
    const { Statement } = JSON.parse(policyOf(queue)!);
    assert.deepEqual(Statement, [statement('one'), statement('two', ['SQS:GetQueueUrl', 'SQS:PurgeQueue'])]);
    queue.commit(remove('one'));
    assert.deepEqual(JSON.parse(policyOf(queue)!).Statement, [Statement[1]]);
    queue.commit(remove('two'));
    assert.equal(queue.state.attributes.has('Policy'), false);
  });

  it('has a label of its own; the same once more is done already', () => {
    const queue = new OneQueue();
    queue.commit(add('one'));
    const before = queue.state;
    assert.deepEqual(queue.commit(add('one'), add('one', 'SQS:*')), [
      { outcome: { kind: 'done' }, effect: false },
      { outcome: { kind: 'label-taken' }, effect: false },
    ]);
    assert.equal(queue.state, before);
  });

  it('is removed by a label that is there, and the answer tells whether any policy is', () => {
    const queue = new OneQueue();
    const missing = (hasPolicy: boolean) => ({
      outcome: { kind: 'no-such-label', hasPolicy },
      effect: false,
    });
    assert.deepEqual(queue.commit(remove('one')), [missing(false)]);
    queue.commit(add('one'));
    assert.deepEqual(queue.commit(remove('One')), [missing(true)]);
  });

  it('leaves a policy that was set by hand as it is, but for itself', () => {
    const single = { Effect: 'Deny', Principal: '*', Action: 'sqs:*', Sid: 'by hand' };
    const queue = new OneQueue();
    set(queue, { Version: '2012-10-17', Statement: single, Note: { a: 1 } });
    queue.commit(add('one'));
    const { Statement, ...rest } = JSON.parse(policyOf(queue)!);
    assert.deepEqual(rest, { Version: '2012-10-17', Note: { a: 1 } });
    assert.deepEqual(Statement, [single, statement('one')]);
    queue.commit(remove('by hand'));
    assert.deepEqual(JSON.parse(policyOf(queue)!).Statement, [statement('one')]);
  });

  it('can be added to a policy of any JSON map, and removed again', () => {
    for (const policy of [
      {},
      { Statement: null },
      { Statement: 'x' },
      { Statement: [1, null, { Sid: 7 }] },
    ]) {
      const queue = new OneQueue();
      set(queue, policy);
      assert.equal(queue.commit(add('one'))[0]!.effect, true, JSON.stringify(policy));
      assert.deepEqual(JSON.parse(policyOf(queue)!).Statement.at(-1), statement('one'));
      assert.equal(queue.commit(remove('one'))[0]!.effect, true);
    }
  });

  it('is one of at most 20, in a policy of bounded length', () => {
    const queue = new OneQueue();
    queue.commit(...Array.from({ length: 20 }, (_, index) => add(`label${index}`)));
    assert.deepEqual(queue.commit(add('label20')), [
      { outcome: { kind: 'too-many-statements', count: 21 }, effect: false },
    ]);
    assert.equal(JSON.parse(policyOf(queue)!).Statement.length, 20);
    set(queue, { Note: 'x'.repeat(65_400) });
    assert.deepEqual(queue.commit(add('one')), [
      { outcome: { kind: 'policy-too-long', charactersMax: 65_536 }, effect: false },
    ]);
  });

  it('changes the time of the last change, and runs among the attributes in the order of the batch', () => {
    const queue = new OneQueue();
    const before = queue.state.modifiedAtMillis;
    queue.nowMillis += 60_000;
    queue.commit(add('one'));
    assert.ok(queue.state.modifiedAtMillis > before);
    queue.commit(setOf({ Policy: '{"Version":"2012-10-17"}' }), add('two'));
    assert.deepEqual(JSON.parse(policyOf(queue)!), { Version: '2012-10-17', Statement: [statement('two')] });
  });
});
