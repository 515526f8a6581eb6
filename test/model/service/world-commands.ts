/** What nobody asks for: time passes, a process is replaced, a retention period ends. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anyName, anyNode, QueueCommand } from './queue-commands.ts';
import { entryWith } from './send-commands.ts';
import { ServiceCommand } from './service-command.ts';
import { nodeCount, type ServiceUnderTest } from './service-under-test.ts';
import type { SqsModel } from './sqs-model.ts';

class AdvanceTime extends ServiceCommand {
  readonly #seconds: number;

  constructor(seconds: number) {
    super();
    this.#seconds = seconds;
  }

  protected play(_model: SqsModel, real: ServiceUnderTest): Promise<void> {
    return real.advance(this.#seconds * 1000);
  }

  toString(): string {
    return `AdvanceTime(${this.#seconds} s)`;
  }
}

class Restart extends ServiceCommand {
  readonly #node: number;
  readonly #how: 'stop' | 'kill';

  constructor(node: number, how: 'stop' | 'kill') {
    super();
    this.#node = node;
    this.#how = how;
  }

  protected play(_model: SqsModel, real: ServiceUnderTest): Promise<void> {
    return real.restart(this.#node, this.#how);
  }

  toString(): string {
    return `Restart(node ${this.#node}, ${this.#how})`;
  }
}

/** Far beyond: stamps are upper bounds of the time, which an idle node knows only roughly. */
const beyondMillis = 600_000;
/** A node believes the store's time once it was told it twice, this far apart. */
const confirmedAfterMillis = 65_000;

/** Once the retention period is over for sure and a node that is sure of the time has committed, nothing comes back. */
class OutliveRetention extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const queue = model.queues.get(this.name);
    if (!queue) return;
    const retentionMillis = model.seconds(queue, 'MessageRetentionPeriod') * 1000;
    await real.advance(retentionMillis + beyondMillis);
    const overdue = real.now - retentionMillis - beyondMillis;
    for (let looks = 0; looks < 3; looks++) {
      await real.call(this.node, (service) => service.getQueue(this.name));
      await real.advance(confirmedAfterMillis);
    }
    model.timePassed(real.now);
    const body = model.newBody(1);
    const { outcome, span } = await real.call(this.node, (service) =>
      service.send(this.name, 'AIDATEST', [entryWith(body, 0)]),
    );
    assert.equal(outcome.kind, 'done');
    for (const message of model.messagesOf(queue)) {
      if (message.sent.end > overdue) continue;
      message.places = message.places.filter((place) => place !== queue);
      if (message.places.length === 0) model.messages.delete(message);
    }
    model.send(queue, body, 0, span, real.life(this.node));
    const other = (this.node + 1) % nodeCount;
    const looked = await real.call(other, (service) => service.getQueue(this.name));
    assert.ok(looked.outcome.kind === 'queue');
    if (looked.outcome.kind !== 'queue') return;
    const { visibleCount, inFlightCount, delayedCount } = looked.outcome;
    const most = model.messagesOf(queue).length;
    assert.ok(
      visibleCount + inFlightCount + delayedCount <= most,
      `more than ${most} outlive their retention`,
    );
  }
}

export const advances = fc
  .constantFrom(0, 1, 1, 3, 3, 11, 31, 56, 56, 70, 901, 43_000)
  .map((seconds) => new AdvanceTime(seconds));
export const restarts = fc
  .tuple(anyNode, fc.constantFrom('stop', 'kill'))
  .map(([node, how]) => new Restart(node, how));
export const outlivings = fc.tuple(anyNode, anyName).map((drawn) => new OutliveRetention(...drawn));
