/** Sends: batches whose entries differ in size and delay, a node that crashes in the middle, a receive that waits. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SendEntry } from '../../../src/engine/queue-api.ts';
import { entryOf, receiveDefaults } from '../../support/world.ts';
import { anyName, anyNode } from './queue-commands.ts';
import { finish } from './receive-commands.ts';
import { agreedQueue, ServiceCommand } from './service-command.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { type SqsModel, shortOf } from './sqs-model.ts';

interface DrawnEntry {
  readonly bytes: number;
  readonly delaySeconds: number | undefined;
}

const senderId = 'AIDATEST';

const anyEntry: fc.Arbitrary<DrawnEntry> = fc.record(
  {
    // Two are over the small limit of a queue; the last one gets an object of its own.
    bytes: fc.constantFrom(1, 1, 1, 1, 2_000, 70_000),
    delaySeconds: fc.constantFrom(undefined, undefined, undefined, 0, 2, 900),
  },
  { noNullPrototype: true },
);

export function entryWith(body: string, delaySeconds: number | undefined): SendEntry {
  return { ...entryOf(body), delaySeconds };
}

class Send extends ServiceCommand {
  readonly #node: number;
  readonly #name: string;
  readonly #entries: readonly DrawnEntry[];

  constructor(node: number, name: string, entries: readonly DrawnEntry[]) {
    super();
    this.#node = node;
    this.#name = name;
    this.#entries = entries;
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const entries = this.#entries.map(({ bytes, delaySeconds }) =>
      entryWith(model.newBody(bytes), delaySeconds),
    );
    real.history.push(`  sends ${entries.map(({ content }) => shortOf(content.body)).join(' ')}`);
    const { outcome, span } = await real.call(this.#node, (service) =>
      service.send(this.#name, senderId, entries),
    );
    const queue = agreedQueue(model, this.#name, outcome);
    if (!queue || outcome.kind !== 'done') return;
    assert.equal(outcome.entries.length, entries.length);
    const maximumBytes = model.seconds(queue, 'MaximumMessageSize');
    outcome.entries.forEach((result, at) => {
      const { content, contentBytes, delaySeconds } = entries[at]!;
      if (contentBytes > maximumBytes) {
        assert.deepEqual(result, { kind: 'too-large', maximumBytes });
        return;
      }
      assert.equal(result.kind, 'sent');
      const message = model.send(queue, content.body, delaySeconds, span, real.life(this.#node));
      if (result.kind === 'sent') message.id = result.messageId;
    });
  }

  toString(): string {
    const entries = this.#entries.map(
      ({ bytes, delaySeconds }) => `${bytes} B${delaySeconds === undefined ? '' : ` in ${delaySeconds} s`}`,
    );
    return `Send(${entries.join(' + ')} to ${this.#name} on node ${this.#node})`;
  }
}

/** Whether it took effect nobody knows; if it did, then once and for good. */
class SendAndCrash extends ServiceCommand {
  readonly #node: number;
  readonly #name: string;
  readonly #afterMillis: number;

  constructor(node: number, name: string, afterMillis: number) {
    super();
    this.#node = node;
    this.#name = name;
    this.#afterMillis = afterMillis;
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const body = model.newBody(1);
    real.history.push(`  sends ${body}`);
    const begin = real.now;
    const answer = real.node(this.#node).sending(this.#name, body);
    // Nobody is there to hear it, whatever it is.
    void answer.catch(() => undefined);
    await real.advance(this.#afterMillis);
    await real.restart(this.#node, 'kill');
    const queue = model.queues.get(this.#name);
    if (!queue) return;
    const message = model.send(queue, body, undefined, { begin, end: real.now }, real.life(this.#node));
    message.mayBeGone = true;
  }

  toString(): string {
    return `SendAndCrash(to ${this.#name} on node ${this.#node} after ${this.#afterMillis} ms)`;
  }
}

class SendToWaiting extends ServiceCommand {
  readonly #receiver: number;
  readonly #sender: number;
  readonly #name: string;

  constructor(receiver: number, sender: number, name: string) {
    super();
    this.#receiver = receiver;
    this.#sender = sender;
    this.#name = name;
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const body = model.newBody(1);
    real.history.push(`  sends ${body}`);
    const request = { ...receiveDefaults(), waitSeconds: 5 };
    const life = real.life(this.#receiver);
    const waiting = real.timed(this.#receiver, (service) => service.receive(this.#name, request));
    await real.advance(700);
    const sent = await real.call(this.#sender, (service) =>
      service.send(this.#name, senderId, [entryWith(body, 0)]),
    );
    const received = await real.world.run(waiting);
    const queue = agreedQueue(model, this.#name, sent.outcome);
    if (queue && sent.outcome.kind === 'done') {
      assert.equal(sent.outcome.entries[0]?.kind, 'sent');
      model.send(queue, body, 0, sent.span, real.life(this.#sender));
    }
    await finish(model, real, this.#name, [{ ...received, request, life }]);
  }

  toString(): string {
    return `SendToWaiting(on node ${this.#sender}, ${this.#name} awaited on node ${this.#receiver})`;
  }
}

export const sends = fc
  .tuple(anyNode, anyName, fc.array(anyEntry, { minLength: 1, maxLength: 4 }))
  .map((drawn) => new Send(...drawn));
export const crashes = fc
  .tuple(anyNode, anyName, fc.integer({ min: 0, max: 60 }))
  .map((drawn) => new SendAndCrash(...drawn));
export const wakes = fc.tuple(anyNode, anyNode, anyName).map((drawn) => new SendToWaiting(...drawn));
