/** GetQueueAttributes: what was set is shown, and the three counts are what the model counts. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { QueueSnapshot } from '../../../src/engine/queue-api.ts';
import { anyName, anyNode, QueueCommand } from './queue-commands.ts';
import { agreedQueue } from './service-command.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import type { ModelMessage, ModelQueue, Span, SqsModel } from './sqs-model.ts';

export class GetQueue extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { outcome, span } = await real.call(this.node, (service) => service.getQueue(this.name));
    const queue = agreedQueue(model, this.name, outcome);
    if (!queue || outcome.kind !== 'queue') return;
    model.timePassed(real.now);
    for (const name of ['VisibilityTimeout', 'DelaySeconds', 'MessageRetentionPeriod', 'RedrivePolicy'])
      assert.equal(outcome.attributes.get(name), model.attribute(queue, name), name);
    checkCounts(model, queue, outcome, span);
  }
}

type Place = 'visible' | 'in flight' | 'delayed';

function checkCounts(model: SqsModel, queue: ModelQueue, snapshot: QueueSnapshot, span: Span): void {
  const messages = model.messagesOf(queue);
  const told: readonly (readonly [Place, number])[] = [
    ['visible', snapshot.visibleCount],
    ['in flight', snapshot.inFlightCount],
    ['delayed', snapshot.delayedCount],
  ];
  for (const [place, count] of told) {
    const least = messages.filter((message) => model.isSure(message) && isOnly(message, place, span)).length;
    const most = messages.filter((message) => placesOf(message, span).includes(place)).length;
    assert.ok(least <= count && count <= most, `${count} ${place} in ${queue.name}, not ${least} to ${most}`);
  }
  const total = told.reduce((sum, [, count]) => sum + count, 0);
  const least = messages.filter((message) => model.isSure(message)).length;
  assert.ok(least <= total && total <= messages.length, `${total} in ${queue.name}`);
}

function isOnly(message: ModelMessage, place: Place, span: Span): boolean {
  const places = placesOf(message, span);
  return places.length === 1 && places[0] === place;
}

function placesOf({ visible, receiveCount }: ModelMessage, { begin, end }: Span): Place[] {
  const hidden = receiveCount > 0 ? 'in flight' : 'delayed';
  if (visible.end <= begin) return ['visible'];
  return visible.begin > end ? [hidden] : ['visible', hidden];
}

export const counts = fc.tuple(anyNode, anyName).map((drawn) => new GetQueue(...drawn));
