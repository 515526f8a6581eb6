/** Deletes and visibility changes by receipt handle: the last one, superseded ones, those of another queue, no handle. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anyName, anyNode } from './queue-commands.ts';
import { agreedQueue, ServiceCommand } from './service-command.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import {
  clockSlackMillis,
  type Delivery,
  later,
  type ModelQueue,
  type Span,
  type SqsModel,
  shortOf,
} from './sqs-model.ts';

const leaseMillisMax = 12 * 60 * 60 * 1000;

/** A delivery counted from the last one back, or a text that no service gave out. */
type DrawnHandle = number | 'malformed';

const anyHandle: fc.Arbitrary<DrawnHandle> = fc.oneof(
  { weight: 15, arbitrary: fc.nat(7) },
  { weight: 1, arbitrary: fc.constant('malformed' as const) },
);

/** To the queue of the first handle, or to any. */
const anyAddress = fc.option(anyName, { nil: undefined, freq: 8 });

abstract class HandleCommand extends ServiceCommand {
  readonly node: number;
  readonly #address: string | undefined;
  readonly #drawn: readonly DrawnHandle[];

  constructor(node: number, address: string | undefined, drawn: readonly DrawnHandle[]) {
    super();
    this.node = node;
    this.#address = address;
    this.#drawn = drawn;
  }

  protected get drawnWords(): string {
    const through = this.#address === undefined ? '' : ` through ${this.#address}`;
    return `handles ${this.#drawn.join(' ')} from the last${through} on node ${this.node}`;
  }

  override check(model: Readonly<SqsModel>): boolean {
    return model.deliveries.length > 0;
  }

  /** Undefined entries stand for malformed handles. */
  protected resolve(
    model: SqsModel,
    real: ServiceUnderTest,
  ): { name: string; deliveries: readonly (Delivery | undefined)[] } {
    const known = model.deliveries;
    const deliveries = this.#drawn.map((back) =>
      back === 'malformed' ? undefined : known[known.length - 1 - (back % known.length)],
    );
    const name = this.#address ?? deliveries.find((delivery) => delivery)?.queue.name ?? 'jobs';
    const words = deliveries.map((delivery) =>
      delivery
        ? `${shortOf(delivery.message.body)} as delivered the ${delivery.number}. time from ${delivery.queue.name}`
        : 'no handle',
    );
    real.history.push(`  ${words.join(' + ')}, through ${name}`);
    return { name, deliveries };
  }
}

function textOf(delivery: Delivery | undefined): string {
  return delivery?.handle ?? 'bm9uc2Vuc2U=';
}

class Delete extends HandleCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { name, deliveries } = this.resolve(model, real);
    const { outcome } = await real.call(this.node, (service) =>
      service.deleteMessages(name, deliveries.map(textOf)),
    );
    const queue = agreedQueue(model, name, outcome);
    if (!queue || outcome.kind !== 'done') return;
    assert.deepEqual(
      outcome.entries.map(({ kind }) => kind),
      deliveries.map((delivery) => (delivery ? 'done' : 'malformed-handle')),
    );
    for (const delivery of deliveries) if (delivery) model.deleteBy(delivery, queue);
  }

  toString(): string {
    return `Delete(${this.drawnWords})`;
  }
}

class ChangeVisibility extends HandleCommand {
  readonly #seconds: number;

  constructor(node: number, address: string | undefined, drawn: readonly DrawnHandle[], seconds: number) {
    super(node, address, drawn);
    this.#seconds = seconds;
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { name, deliveries } = this.resolve(model, real);
    const visibilityTimeoutSeconds = this.#seconds;
    const entries = deliveries.map((delivery) => ({
      receiptHandle: textOf(delivery),
      visibilityTimeoutSeconds,
    }));
    const { outcome, span } = await real.call(this.node, (service) =>
      service.changeVisibility(name, entries),
    );
    const queue = agreedQueue(model, name, outcome);
    if (!queue || outcome.kind !== 'done') return;
    model.timePassed(real.now);
    assert.equal(outcome.entries.length, deliveries.length);
    outcome.entries.forEach(({ kind }, at) => {
      const delivery = deliveries[at];
      if (!delivery) assert.equal(kind, 'malformed-handle');
      else this.#entry(model, queue, delivery, kind, span, real.life(this.node));
    });
  }

  #entry(
    model: SqsModel,
    queue: ModelQueue,
    delivery: Delivery,
    kind: string,
    span: Span,
    life: number,
  ): void {
    const { message } = delivery;
    const name = `${shortOf(message.body)} as delivered the ${delivery.number}. time`;
    if (!model.holds(delivery, queue)) {
      assert.equal(kind, 'not-available', name);
      return;
    }
    if (kind === 'not-available') {
      assert.ok(!model.isSure(message) || message.holderInDoubt, `${name} is there and its handle holds`);
      // That says nothing of where it is: it may have moved, or been given back.
      message.holder = undefined;
      return;
    }
    message.places = [queue];
    message.mayBeGone = false;
    message.holderInDoubt = false;
    const visible = later(span, this.#seconds * 1000);
    const latest = later(delivery.leased, leaseMillisMax);
    if (kind === 'beyond-limit') {
      assert.ok(visible.end > latest.begin, `${name} is within its 12 hours`);
      return;
    }
    assert.equal(kind, 'done', name);
    assert.ok(visible.begin <= latest.end + clockSlackMillis, `${name} is beyond its 12 hours`);
    message.visible = visible;
    message.touchedBy = life;
    message.touchedAt = span.end;
  }

  toString(): string {
    return `ChangeVisibility(${this.drawnWords} to ${this.#seconds} s)`;
  }
}

const handles = fc.array(anyHandle, { minLength: 1, maxLength: 3 });
export const deletes = fc.tuple(anyNode, anyAddress, handles).map((drawn) => new Delete(...drawn));
export const visibilityChanges = fc
  .tuple(anyNode, anyAddress, handles, fc.constantFrom(0, 0, 1, 5, 60, 43_200))
  .map((drawn) => new ChangeVisibility(...drawn));
