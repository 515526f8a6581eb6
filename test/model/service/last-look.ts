/**
 * The end of a run: every queue is emptied by a client that deletes nothing, and what the model is sure of has to be
 * there, once. What it was unsure of but cannot have ended has to be in one of its places.
 */
import assert from 'node:assert/strict';
import { receiveDefaults } from '../../support/world.ts';
import { finish } from './receive-commands.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { type SqsModel, shortOf, staleMillis } from './sqs-model.ts';

/** Long enough to hold everything until all queues are looked at. */
const holdSeconds = 43_200;

export async function lastLook(model: SqsModel, real: ServiceUnderTest): Promise<void> {
  real.history.push('the last look');
  for (const { name, attributes } of model.queues.values()) {
    if (!attributes.delete('RedrivePolicy')) continue;
    await real.call(0, (service) => service.setQueueAttributes(name, new Map([['RedrivePolicy', '']])));
  }
  const waiting = [...model.messages].map(({ visible, touchedAt }) =>
    Math.max(visible.end, touchedAt + staleMillis),
  );
  await real.advance(Math.max(0, ...waiting.map((at) => at - real.now)) + staleMillis);
  const seen = new Set<string>();
  for (const name of model.queues.keys()) {
    const request = { ...receiveDefaults(), visibilityTimeoutSeconds: holdSeconds };
    for (;;) {
      const timed = await real.call(0, (service) => service.receive(name, request));
      const judged = await finish(model, real, name, [{ ...timed, request, life: real.life(0) }]);
      const messages = judged?.calls[0]?.messages ?? [];
      for (const { message } of messages) seen.add(message.body);
      if (messages.length === 0) break;
    }
  }
  model.timePassed(real.now);
  for (const { body, places, mayBeGone } of model.messages)
    if (!mayBeGone && !seen.has(body))
      assert.fail(`${shortOf(body)} is lost, not in ${places.map(({ name }) => name).join(' or ')}`);
  await real.check();
}
