/** Over 300 lines: a task, its steps and its rate are one state machine, and its cases are read together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  newMessage,
  OneQueue,
  otherIncarnation,
  purgeOf,
  receiveOf,
  sendOf,
  sourceArn,
  sourceIncarnation,
  targetIncarnation,
  writer,
} from '../../test/model/one-queue.ts';
import type { Command, CommandOutcome } from './command.ts';
import { type Incarnation, writerIdFrom } from './ids.ts';
import { MOVE_TASKS_MAX, queueLimits } from './limits.ts';
import { allowance, type MoveTask, pacedAfter, untilAllowed } from './move-task.ts';

const destinationArn = 'arn:aws:sqs:us-east-1:000000000000:destination';
const idOf = (n: number) => `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;

function start(n = 1, fields: Partial<MoveTask> = {}): Command {
  return { kind: 'start-move-task', task: { id: idOf(n), toMove: 3, destinationArn, ...fields } };
}
const step = (messagesMax = 100, n = 1, lastTry = false, runner = writer): Command => ({
  kind: 'step-move-task',
  id: idOf(n),
  runner,
  messagesMax,
  lastTry,
});
const cancel = (n = 1): Command => ({ kind: 'cancel-move-task', id: idOf(n) });
const resolve = (through: number): Command => ({ kind: 'resolve-moves', targetIncarnation, through });
const giveBack: Command = { kind: 'return-moves', targetIncarnation };

const task = ({ state }: OneQueue): MoveTask => state.moveTasks.at(-1)!;
const given = (queue: OneQueue, ...commands: Command[]): number => {
  const outcome = queue.commit(...commands).at(-1)!.outcome;
  assert.ok(outcome.kind === 'task-stepped');
  return outcome.given;
};

/** A queue with a task under way, so many messages sent to it and some of them received before. */
function withTask(messages = 3, fields: Partial<MoveTask> = {}, attributes = {}): OneQueue {
  const queue = new OneQueue(attributes);
  queue.send(...Array.from({ length: messages }, (_, n) => `m${n}`));
  queue.commit(start(1, fields));
  return queue;
}

describe('a move task', () => {
  it('begins with what is there, one at a time, and the ten newest are remembered', () => {
    const queue = withTask();
    assert.deepEqual(task(queue), {
      id: idOf(1),
      status: 'running',
      destinationArn,
      toMove: 3,
      startedAtMillis: queue.nowMillis,
      moved: 0,
      through: 4,
      pacedUntilMillis: queue.nowMillis - 1_000,
      runner: writer,
    });
    assert.deepEqual(queue.commit(start(2))[0], { outcome: { kind: 'task-running' }, effect: false });
    for (let n = 2; n < 14; n++) {
      queue.commit(cancel(n - 1));
      queue.commit(start(n));
    }
    assert.deepEqual(
      queue.state.moveTasks.map(({ id }) => id),
      Array.from({ length: MOVE_TASKS_MAX }, (_, n) => idOf(n + 4)),
    );
  });

  it('gives what is visible, never received first or not, and not what came later', () => {
    const queue = new OneQueue();
    queue.send('received', 'held', 'ready');
    queue.receive(1, 0);
    queue.letRedeliveriesBegin();
    const [held] = queue.receive(1, 30);
    queue.commit(sendOf(newMessage('in the same commit')), start());
    queue.send('later');
    assert.equal(given(queue, step()), 3);
    assert.equal(held!.message.body, 'received');
    assert.deepEqual(queue.places, { 1: 'deliveries', 2: 'intents', 3: 'intents', 4: 'intents', 5: 'ready' });
    assert.deepEqual(queue.state.intents.get(2), {
      targetIncarnation,
      number: queue.state.intents.get(2)!.number,
      receiveCount: 0,
      firstReceivedAtMillis: 0,
      redriven: true,
    });
    assert.equal(queue.state.outgoingLinks.get(targetIncarnation)!.queueName, 'destination');
  });

  it('leaves to the receives of the same commit what they get', () => {
    const queue = withTask(3);
    const [received] = queue.commit(receiveOf(1, 0), step());
    const [outcome] = [received!.outcome];
    assert.ok(outcome.kind === 'received' && outcome.messages.length === 1);
    assert.deepEqual(queue.places, { 1: 'deliveries', 2: 'intents', 3: 'intents' });
    queue.commit(resolve(2));
    assert.equal(given(queue, receiveOf(1, 0), step()), 0);
    assert.equal(task(queue).status, 'running');
    assert.equal(given(queue, step()), 1);
  });

  it('gives no more than its intents have room for, and than it is asked for', () => {
    const queue = withTask(9);
    queue.limits = { ...queueLimits, intentsMax: 4 };
    assert.equal(given(queue, step(2)), 2);
    assert.equal(given(queue, step()), 2);
    assert.equal(queue.commit(step())[0]!.effect, false);
    // Room that the same commit makes counts.
    assert.equal(given(queue, step(), resolve(3), step(0)), 0);
    assert.equal(queue.state.intents.size, 4);
    assert.equal(task(queue).moved, 3);
  });

  it('takes no step of a node that does not know of its runner, and is not ended by one', () => {
    const queue = withTask(3);
    const another = writerIdFrom(new Uint8Array(16).fill(9));
    assert.deepEqual(queue.commit(step(1, 1, true, another))[0], {
      outcome: { kind: 'task-stepped', given: 0, unreadable: false },
      effect: false,
    });
    queue.commit(purgeOf());
    assert.equal(queue.commit(step(1, 1, true, another))[0]!.effect, false);
    assert.equal(task(queue).status, 'running');
    queue.commit(step());
    assert.equal(task(queue).status, 'completed');
  });

  it('is completed by the first step that finds nothing, when nothing is under way', () => {
    const queue = withTask();
    assert.equal(given(queue, step()), 3);
    assert.equal(queue.commit(step())[0]!.effect, false);
    queue.commit(resolve(2));
    assert.equal(queue.commit(step())[0]!.effect, false);
    queue.commit(resolve(3));
    assert.equal(task(queue).status, 'running');
    assert.equal(queue.commit(step())[0]!.effect, true);
    assert.deepEqual([task(queue).status, task(queue).moved], ['completed', 3]);
    assert.equal(queue.commit(step())[0]!.effect, false);
    assert.deepEqual(queue.commit(cancel())[0], { outcome: { kind: 'no-such-task' }, effect: false });
  });

  it('that is cancelled is over when the last of its messages has arrived, and moves no more', () => {
    const queue = withTask();
    given(queue, step(2));
    assert.deepEqual(queue.commit(cancel())[0]!.outcome, { kind: 'task-cancelled', moved: 0 });
    assert.equal(given(queue, step()), 0);
    assert.deepEqual(queue.commit(start(2))[0]!.outcome, { kind: 'task-running' });
    queue.commit(resolve(1));
    assert.equal(task(queue).status, 'cancelling');
    queue.commit(resolve(2));
    assert.deepEqual([task(queue).status, task(queue).moved], ['cancelled', 2]);
    const other = withTask();
    other.commit(cancel());
    assert.equal(task(other).status, 'cancelled');
  });

  it('fails when its destination is gone: at a step, or when what was on its way comes back as it was', () => {
    const queue = withTask(4);
    queue.receive(1, 0);
    assert.equal(given(queue, step()), 4);
    queue.commit(resolve(1));
    queue.commit(giveBack);
    assert.deepEqual(
      [task(queue).status, task(queue).failureReason, task(queue).moved],
      ['failed', 'AWS.SimpleQueueService.NonExistentQueue', 1],
    );
    assert.deepEqual(Object.values(queue.places).sort(), ['ready', 'ready', 'ready']);
    queue.commit(start(2));
    queue.target = { kind: 'missing' };
    assert.equal(given(queue, step(9, 2)), 0);
    assert.equal(task(queue).failureReason, 'AWS.SimpleQueueService.NonExistentQueue');
    assert.equal(task(queue).status, 'failed');
  });

  it('that is cancelled before its messages come back is cancelled, not failed', () => {
    const queue = withTask();
    given(queue, step());
    queue.commit(cancel());
    queue.commit(giveBack);
    assert.equal(task(queue).status, 'cancelled');
    assert.equal(task(queue).failureReason, undefined);
    assert.equal(queue.counts.visible, 3);
  });

  it('without a destination goes by the source of each message, and fails at one that has none', () => {
    const queue = new OneQueue();
    queue.source = { kind: 'present', pending: new Set([1]) };
    const { messageId, content, contentBytes } = newMessage('letter');
    const message = {
      ...content,
      messageId,
      senderId: 'A',
      sentAtMillis: 1_000_000,
      deadLetterSourceArn: undefined,
    };
    const from = { number: 1, contentBytes, receiveCount: 2, firstReceivedAtMillis: 5 };
    const source = { name: 'source', incarnation: sourceIncarnation, arn: sourceArn };
    queue.commit({ kind: 'append-moved', source, messages: [{ ...from, message }] });
    queue.send('nobody’s');
    queue.commit({ kind: 'start-move-task', task: { id: idOf(1), toMove: 2 } });
    assert.equal(given(queue, step()), 1);
    assert.equal(queue.state.outgoingLinks.get(targetIncarnation)!.queueName, 'source');
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'ready' });
    // It fails when that one has arrived.
    assert.equal(task(queue).status, 'running');
    queue.commit(resolve(1));
    assert.deepEqual(
      [task(queue).status, task(queue).failureReason],
      ['failed', 'CouldNotDetermineMessageSource'],
    );
  });

  it('goes round what cannot be read; with nothing else left it fails only when told to', () => {
    const queue = new OneQueue();
    queue.limits = { ...queueLimits, tailBytesMax: 100 };
    queue.send('a');
    queue.send('b');
    queue.send('c');
    queue.commit(start());
    const [first] = queue.state.segments.keys();
    queue.unreadable.add(first!);
    const stuck = (lastTry: boolean): CommandOutcome => queue.commit(step(9, 1, lastTry))[0]!.outcome;
    const got = given(queue, step());
    assert.ok(got > 0 && got < 3, String(got));
    queue.commit(resolve(got));
    assert.deepEqual(stuck(false), { kind: 'task-stepped', given: 0, unreadable: true });
    assert.equal(task(queue).status, 'running');
    stuck(true);
    assert.deepEqual([task(queue).status, task(queue).failureReason], ['failed', 'CouldNotReadMessage']);
    queue.unreadable.clear();
    queue.commit(start(2));
    assert.equal(given(queue, step(9, 2)), 3 - got);
  });

  it('of a purged queue is completed; what was under way arrives all the same', () => {
    const queue = withTask(5);
    given(queue, step(2));
    queue.commit(purgeOf());
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'intents' });
    queue.commit(resolve(2));
    queue.commit(step());
    assert.deepEqual([task(queue).status, task(queue).moved], ['completed', 2]);
  });

  it('arrives as new messages: id drawn, stamped now, no source, no receives, past deduplication', () => {
    for (const fifo of [false, true]) {
      const queue = new OneQueue(fifo ? { FifoQueue: 'true' } : {});
      queue.stampLeadMillis = 7;
      queue.source = { kind: 'present', pending: new Set([1]) };
      const { messageId, content, contentBytes } = newMessage('x', fifo ? { groupId: 'g' } : {});
      const message = {
        ...content,
        messageId,
        senderId: 'A',
        sentAtMillis: 5,
        deadLetterSourceArn: sourceArn,
        ...(fifo && { movedAtMillis: 6, deduplicationId: 'old' }),
      };
      const moved = {
        number: 1,
        message,
        contentBytes,
        receiveCount: 9,
        firstReceivedAtMillis: 5,
        redriven: true as const,
      };
      const source = { name: 'source', incarnation: sourceIncarnation, arn: sourceArn };
      queue.commit({ kind: 'append-moved', source, messages: [moved] });
      assert.deepEqual(queue.state.tail.get(1)!.message, {
        ...content,
        messageId,
        senderId: 'A',
        sentAtMillis: queue.nowMillis + 7,
        deadLetterSourceArn: undefined,
        ...(fifo && { deduplicationId: messageId }),
      });
      assert.deepEqual(queue.places, { 1: 'ready' });
    }
  });

  it('of a FIFO queue gives several of a group in a row, and locks it until they have arrived', () => {
    const queue = new OneQueue({ FifoQueue: 'true' });
    const send = (body: string, groupId: string) =>
      queue.commit({
        kind: 'send',
        entries: [
          {
            message: { ...newMessage(body, { groupId }), deduplication: { explicitId: body, bodyHash: '' } },
            delaySeconds: undefined,
          },
        ],
      });
    for (const [body, group] of [
      ['a1', 'a'],
      ['b1', 'b'],
      ['a2', 'a'],
      ['b2', 'b'],
      ['a3', 'a'],
    ] as const)
      send(body, group);
    queue.commit(receiveOf(1, 30));
    queue.commit(start());
    assert.equal(given(queue, step()), 2);
    assert.deepEqual(queue.places, { 1: 'deliveries', 2: 'intents', 3: 'ready', 4: 'intents', 5: 'ready' });
    assert.deepEqual(
      [...queue.state.intents].map(([sequence, { number }]) => [sequence, number]),
      [
        [2, 1],
        [4, 2],
      ],
    );
    queue.nowMillis += 31_000;
    assert.equal(given(queue, step(2)), 2);
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'intents', 3: 'intents', 4: 'intents', 5: 'ready' });
    assert.deepEqual(queue.receive(5), []);
  });
});

describe('the rate of a move task', () => {
  it('is a second’s worth at most after a rest, and then what time brings', () => {
    const queue = withTask(50, { messagesPerSecond: 10 });
    assert.equal(given(queue, step()), 1);
    queue.nowMillis += 250;
    assert.equal(given(queue, step()), 2);
    queue.nowMillis += 60_000;
    assert.equal(given(queue, step()), 10);
    assert.equal(given(queue, step()), 0);
  });

  const task = (messagesPerSecond: number, pacedUntilMillis: number) => ({
    messagesPerSecond,
    pacedUntilMillis,
  });

  it('is kept again after one second’s worth when the clock is set back an hour', () => {
    const queue = withTask(90, { messagesPerSecond: 20 });
    queue.nowMillis += 5_000;
    assert.equal(given(queue, step()), 20);
    queue.nowMillis -= 3_600_000;
    assert.equal(given(queue, step()), 20);
    assert.equal(given(queue, step()), 0);
    queue.nowMillis += 500;
    assert.equal(given(queue, step()), 10);
  });

  it('neither bursts nor stands still, whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.tuple(fc.integer({ min: -3_600_000, max: 3_600_000 }), fc.nat(200)), { maxLength: 30 }),
        (rate, moves) => {
          let paced = task(rate, 1e12);
          let now = 1e12;
          for (const [elapsed, wanted] of moves) {
            now += elapsed;
            const allowed = allowance(paced, now);
            assert.ok(allowed <= rate, 'a second’s worth at most');
            const wait = untilAllowed(paced, now, 1);
            assert.ok(wait <= 1_000 + Math.ceil(1_000 / rate), `${wait} ms until the next`);
            assert.equal(wait === 0, allowed >= 1);
            for (const count of [1, Math.ceil(rate / 2), rate]) {
              const stated = untilAllowed(paced, now, count);
              assert.ok(allowance(paced, now + stated) >= count, `${count} not after ${stated} ms`);
            }
            const took = Math.min(wanted, allowed);
            paced = task(rate, pacedAfter(paced, now, took));
            assert.ok(Number.isSafeInteger(paced.pacedUntilMillis));
          }
        },
      ),
    );
  });

  it('is kept over any time, by steps of any size, when the clock is right', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.tuple(fc.nat(3_000), fc.nat(200)), { maxLength: 60 }),
        (rate, steps) => {
          const begun = 1e12;
          let now = begun;
          let paced = task(rate, now);
          let moved = 0;
          for (const [elapsed, wanted] of steps) {
            now += elapsed;
            const took = Math.min(wanted, allowance(paced, now));
            paced = task(rate, pacedAfter(paced, now, took));
            moved += took;
            assert.ok(moved <= ((now - begun) * rate) / 1_000);
          }
        },
      ),
    );
  });
});

describe('steps, resolutions, cancels and purges in any order', () => {
  type Act =
    | 'step'
    | 'resolve'
    | 'receive'
    | 'send'
    | 'cancel'
    | 'purge'
    | 'return'
    | 'start'
    | 'wait'
    | 'gone';
  const act = fc.constantFrom<Act[]>(
    ...([
      'step',
      'step',
      'step',
      'resolve',
      'resolve',
      'receive',
      'send',
      'cancel',
      'purge',
      'return',
      'start',
      'wait',
      'gone',
    ] as const),
  );

  it('keep the invariants, lose nothing and leave no message of a task that is over between two queues', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(act, { maxLength: 60, size: 'max' }), (fifo, acts) => {
        const queue = new OneQueue(fifo ? { FifoQueue: 'true' } : {});
        queue.limits = { ...queueLimits, intentsMax: 3, tailBytesMax: 300 };
        let tasks = 0;
        let sent = 0;
        let arrived = 0;
        let target: Incarnation = targetIncarnation;
        const live = () => Object.keys(queue.places).length;
        for (const each of acts) {
          const before = live();
          if (each === 'send') {
            const groupId = `g${sent % 2}`;
            const deduplication = { explicitId: `d${sent++}`, bodyHash: '' };
            const message = newMessage('m', fifo ? { groupId } : {});
            queue.commit(sendOf(fifo ? { ...message, deduplication } : message));
          } else if (each === 'start') queue.commit(start(++tasks, { messagesPerSecond: 2 }));
          else if (each === 'step') queue.commit(step(2, tasks));
          else if (each === 'cancel') queue.commit(cancel(tasks));
          else if (each === 'receive') queue.commit(receiveOf(2, 1));
          else if (each === 'wait') queue.nowMillis += 700;
          else if (each === 'purge') {
            queue.commit(purgeOf());
            assert.equal(live(), queue.state.intents.size);
          } else if (each === 'resolve') {
            const [first] = [...queue.state.intents.values()].sort((a, b) => a.number - b.number);
            if (!first) continue;
            const { number, targetIncarnation } = first;
            queue.commit({ kind: 'resolve-moves', targetIncarnation, through: number });
            arrived++;
            assert.equal(live(), before - 1);
          } else {
            if (each === 'gone') queue.commit({ kind: 'return-moves', targetIncarnation: target });
            target = target === targetIncarnation ? otherIncarnation : targetIncarnation;
            queue.target = { kind: 'present', incarnation: target };
          }
          const redriven = [...queue.state.intents.values()].some((intent) => intent.redriven);
          const status = queue.state.moveTasks.at(-1)?.status;
          if (redriven) assert.ok(status === 'running' || status === 'cancelling', String(status));
        }
        const counted = queue.state.moveTasks.reduce((sum, { moved }) => sum + moved, 0);
        assert.ok(tasks > MOVE_TASKS_MAX || counted === arrived, `${counted} counted, ${arrived} arrived`);
      }),
      { numRuns: 200 },
    );
  });
});
