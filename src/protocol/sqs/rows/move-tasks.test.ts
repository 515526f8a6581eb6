/** StartMessageMoveTask, ListMessageMoveTasks, CancelMessageMoveTask (SQS.md sections 1 and 6), over both protocols, on the engine. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodies, redrive, reproduction as row, type Sqs } from '../../../../test/reports/reproduction.ts';
import { accountId, region } from '../../../../test/support/world.ts';

const arn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;
const SourceArn = arn('dlq');
const all = { MessageSystemAttributeNames: ['All'], MaxNumberOfMessages: 10 };

/** A dead-letter queue of `q`, with letters, and `destination`. */
async function letters(sqs: Sqs, ...sent: readonly string[]): Promise<void> {
  await sqs.create('dlq');
  await sqs.create('q', { VisibilityTimeout: '1', ...redrive('dlq', 1) });
  await sqs.create('destination');
  for (const body of sent) await sqs.send('q', body);
  await sqs.receive('q', { MaxNumberOfMessages: 10 });
  await sqs.advance(2);
  await sqs.receive('q', { MaxNumberOfMessages: 10 });
  await sqs.advance(1);
  assert.deepEqual(await sqs.counts('dlq'), [String(sent.length), '0', '0']);
}

const start = async (sqs: Sqs, more: object = {}) =>
  String((await sqs.done('StartMessageMoveTask', { SourceArn, ...more })).TaskHandle);

async function list(sqs: Sqs, more: object = {}): Promise<readonly Record<string, unknown>[]> {
  const { Results } = await sqs.done('ListMessageMoveTasks', { SourceArn, ...more });
  return (Results ?? []) as readonly Record<string, unknown>[];
}

/** Also 404, which `sqs.refused` is not for. */
async function refused(sqs: Sqs, action: string, body: object): Promise<readonly unknown[]> {
  const { status, headers, body: answer } = await sqs.call(action, body);
  return [status, String(headers['x-amzn-query-error']), answer.message];
}

const invalid = (message: string) => [400, 'InvalidParameterValue;Sender', message];
const notFound = (message: string) => [404, 'ResourceNotFoundException;Sender', message];
const noSuch = (name: string) =>
  notFound(`The resource that you specified for the ${name} parameter doesn't exist.`);

describe('row: message move tasks', () => {
  // What AWS answered is in the tests of localstack/localstack (test_sqs_move_task).
  row('move everything to the destination, as new messages', async (sqs) => {
    await letters(sqs, 'message-1', 'message-2');
    const [before] = await sqs.receive('dlq', { ...all, MaxNumberOfMessages: 1, VisibilityTimeout: 0 });
    const started = sqs.nowMillis;
    const handle = await start(sqs, { DestinationArn: arn('destination') });
    assert.deepEqual(Object.keys(JSON.parse(atob(handle))), ['taskId', 'sourceArn']);
    assert.equal(JSON.parse(atob(handle)).sourceArn, SourceArn);
    await sqs.advance(2);
    const [task, ...others] = await list(sqs);
    const { StartedTimestamp, ...rest } = task!;
    assert.deepEqual(others, []);
    assert.deepEqual(rest, {
      Status: 'COMPLETED',
      SourceArn,
      DestinationArn: arn('destination'),
      ApproximateNumberOfMessagesMoved: 2,
      ApproximateNumberOfMessagesToMove: 2,
    });
    assert.ok(Math.abs(Number(StartedTimestamp) - started) < 2_000, String(StartedTimestamp));
    assert.deepEqual(await sqs.counts('dlq'), ['0', '0', '0']);
    const moved = await sqs.receive('destination', all);
    assert.deepEqual(bodies(moved), ['message-1', 'message-2']);
    for (const { MessageId, Attributes } of moved) {
      assert.notEqual(MessageId, before!.MessageId);
      assert.equal(Attributes?.ApproximateReceiveCount, '1');
      assert.equal('DeadLetterQueueSourceArn' in (Attributes ?? {}), false);
      assert.ok(Number(Attributes?.SentTimestamp) >= started);
    }
  });

  // localstack localstack/localstack#10392 and #10414: without a destination each goes back to its own source.
  row('without a destination give each message back to the queue it came from', async (sqs) => {
    await letters(sqs, 'of q');
    await sqs.create('other', { VisibilityTimeout: '0', ...redrive('dlq', 1) });
    await sqs.send('other', 'of other');
    await sqs.receive('other');
    await sqs.receive('other');
    await sqs.advance(1);
    await start(sqs);
    await sqs.advance(2);
    assert.deepEqual(bodies(await sqs.receive('q')), ['of q']);
    assert.deepEqual(bodies(await sqs.receive('other')), ['of other']);
    const [task] = await list(sqs);
    assert.deepEqual([task?.Status, 'DestinationArn' in task!], ['COMPLETED', false]);
  });

  row('fail where a message came from nowhere, which stays', async (sqs) => {
    await letters(sqs);
    await sqs.send('dlq', 'sent here');
    await start(sqs);
    await sqs.advance(2);
    const [task] = await list(sqs);
    assert.deepEqual(
      [task?.Status, task?.FailureReason, task?.ApproximateNumberOfMessagesMoved],
      ['FAILED', 'CouldNotDetermineMessageSource', 0],
    );
    assert.deepEqual(bodies(await sqs.receive('dlq')), ['sent here']);
  });

  row('keep to their rate: four at one a second take three seconds', async (sqs) => {
    await letters(sqs, 'a', 'b', 'c', 'd');
    await start(sqs, { DestinationArn: arn('destination'), MaxNumberOfMessagesPerSecond: 1 });
    const seen: number[] = [];
    for (let half = 0; half < 8; half++) {
      await sqs.advance(0.5);
      seen.push(Number((await sqs.counts('destination'))[0]));
    }
    assert.deepEqual(seen, [1, 1, 2, 2, 3, 3, 4, 4]);
    const [task] = await list(sqs);
    assert.deepEqual([task?.MaxNumberOfMessagesPerSecond, task?.Status], [1, 'COMPLETED']);
  });

  row('can be cancelled while they run; what has not moved stays', async (sqs) => {
    await letters(sqs, ...'abcdefghij');
    const TaskHandle = await start(sqs, {
      DestinationArn: arn('destination'),
      MaxNumberOfMessagesPerSecond: 1,
    });
    await sqs.advance(1.5);
    const [running] = await list(sqs);
    assert.deepEqual([running?.Status, running?.TaskHandle], ['RUNNING', TaskHandle]);
    assert.deepEqual(await sqs.done('CancelMessageMoveTask', { TaskHandle }), {
      ApproximateNumberOfMessagesMoved: 2,
    });
    await sqs.advance(5);
    const [task] = await list(sqs);
    assert.deepEqual(
      [task?.Status, task?.ApproximateNumberOfMessagesMoved, task?.ApproximateNumberOfMessagesToMove],
      ['CANCELLED', 2, 10],
    );
    assert.equal('TaskHandle' in task!, false);
    assert.deepEqual(await sqs.counts('dlq'), ['8', '0', '0']);
    assert.deepEqual(
      await refused(sqs, 'CancelMessageMoveTask', { TaskHandle }),
      notFound('Task does not exist.'),
    );
  });

  row('fail when the destination is deleted, and lose nothing', async (sqs) => {
    await letters(sqs, ...'abcdefghij');
    await start(sqs, { DestinationArn: arn('destination'), MaxNumberOfMessagesPerSecond: 1 });
    await sqs.advance(1.5);
    await sqs.done('DeleteQueue', { QueueUrl: 'destination' });
    await sqs.advance(3);
    const [task] = await list(sqs);
    assert.deepEqual(
      [task?.Status, task?.FailureReason, task?.ApproximateNumberOfMessagesMoved],
      ['FAILED', 'AWS.SimpleQueueService.NonExistentQueue', 2],
    );
    assert.deepEqual(await sqs.counts('dlq'), ['8', '0', '0']);
  });

  row('one a source at a time; the newest come first, one unless more are asked for', async (sqs) => {
    await letters(sqs, 'a', 'b', 'c');
    const slow = { DestinationArn: arn('destination'), MaxNumberOfMessagesPerSecond: 1 };
    await start(sqs, slow);
    assert.deepEqual(
      await refused(sqs, 'StartMessageMoveTask', { SourceArn, ...slow }),
      invalid(
        'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
      ),
    );
    await sqs.advance(5);
    for (let n = 2; n <= 12; n++) {
      await start(sqs, { MaxNumberOfMessagesPerSecond: n });
      await sqs.advance(1);
    }
    assert.deepEqual(
      (await list(sqs)).map((task) => task.MaxNumberOfMessagesPerSecond),
      [12],
    );
    assert.deepEqual(
      (await list(sqs, { MaxResults: 10 })).map((task) => task.MaxNumberOfMessagesPerSecond),
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
    );
  });

  row('are refused in the words of AWS', async (sqs) => {
    await letters(sqs);
    await sqs.create('d.fifo', { FifoQueue: 'true' });
    const format = (name: string) =>
      invalid(
        `You must use this format to specify the ${name}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>`,
      );
    const start = (body: object) => refused(sqs, 'StartMessageMoveTask', body);
    assert.deepEqual(await start({}), [
      400,
      'MissingParameter;Sender',
      'The request must contain the parameter SourceArn.',
    ]);
    assert.deepEqual(await start({ SourceArn: '' }), format('SourceArn'));
    assert.deepEqual(await start({ SourceArn, DestinationArn: 'invalid' }), format('DestinationArn'));
    assert.deepEqual(await start({ SourceArn: arn('none') }), noSuch('SourceArn'));
    assert.deepEqual(
      await start({ SourceArn: SourceArn.replace(accountId, '111111111111') }),
      noSuch('SourceArn'),
    );
    assert.deepEqual(await start({ SourceArn, DestinationArn: arn('none') }), noSuch('DestinationArn'));
    assert.deepEqual(
      await start({ SourceArn: arn('destination'), DestinationArn: arn('q') }),
      invalid('Source queue must be configured as a Dead Letter Queue.'),
    );
    assert.deepEqual(
      await start({ SourceArn, DestinationArn: SourceArn }),
      invalid('Source queue arn and destination queue arn cannot be the same.'),
    );
    assert.deepEqual(
      await start({ SourceArn, DestinationArn: arn('d.fifo') }),
      invalid('The source queue and destination queue must be of the same queue type.'),
    );
    for (const MaxNumberOfMessagesPerSecond of [0, 501])
      assert.deepEqual(
        await start({ SourceArn, MaxNumberOfMessagesPerSecond }),
        invalid(
          "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
        ),
      );
    for (const MaxResults of [0, 11])
      assert.equal((await refused(sqs, 'ListMessageMoveTasks', { SourceArn, MaxResults }))[0], 400);
    assert.deepEqual(
      await refused(sqs, 'ListMessageMoveTasks', { SourceArn: arn('none') }),
      noSuch('SourceArn'),
    );
    assert.deepEqual(await list(sqs), []);
    const handle = (taskId: string, sourceArn: string) => ({
      TaskHandle: btoa(JSON.stringify({ taskId, sourceArn })),
    });
    const id = '10f57157-fc38-4da9-a113-4de7e12d05aa';
    const cancel = (body: object) => refused(sqs, 'CancelMessageMoveTask', body);
    for (const TaskHandle of ['foobared', btoa('null'), btoa('[]'), '!'])
      assert.deepEqual(await cancel({ TaskHandle }), invalid('Value for parameter TaskHandle is invalid.'));
    assert.deepEqual(await cancel(handle(id, arn('none'))), noSuch('SourceArn'));
    assert.deepEqual(await cancel(handle(id, SourceArn)), notFound('Task does not exist.'));
  });

  row('over the query protocol', async (sqs) => {
    await letters(sqs, 'a');
    const DestinationArn = arn('destination');
    const started = await sqs.query({ Action: 'StartMessageMoveTask', SourceArn, DestinationArn });
    assert.match(
      started.xml,
      /<StartMessageMoveTaskResult><TaskHandle>[A-Za-z0-9+/=]+<\/TaskHandle><\/StartMessageMoveTaskResult>/,
    );
    await sqs.advance(2);
    const listed = await sqs.query({ Action: 'ListMessageMoveTasks', SourceArn, MaxResults: 10 });
    assert.match(
      listed.xml,
      /<ListMessageMoveTasksResult><ListMessageMoveTasksResultEntry><Status>COMPLETED<\/Status>/,
    );
    const TaskHandle = /<TaskHandle>([^<]+)/.exec(started.xml)?.[1] ?? '';
    const late = await sqs.query({ Action: 'CancelMessageMoveTask', TaskHandle });
    assert.match(late.xml, /<Code>ResourceNotFoundException<\/Code><Message>Task does not exist.<\/Message>/);
  });
});
