/** The receives of one transition in the reference model: together they look at each visible message once. */
import { INTENTS_MAX } from '../../src/core/limits.ts';
import type { ModelOutcome, ModelWorld } from './model-command.ts';
import type { ModelMessage, ModelPlace } from './model-message.ts';
import type { QueueModel } from './queue-model.ts';

export class ReceiveWalk {
  readonly #model: QueueModel;
  readonly #world: ModelWorld;
  #queue: Iterator<ModelMessage> | undefined;
  #unreadable = false;

  constructor(model: QueueModel, world: ModelWorld) {
    this.#model = model;
    this.#world = world;
  }

  receive(max: number, seconds: number | undefined): ModelOutcome {
    this.#queue ??= this.#visible();
    const messages: (ModelOutcome & { kind: 'received' })['messages'] = [];
    let effect = false;
    while (messages.length < max) {
      const { value: message } = this.#queue.next();
      if (!message) break;
      const verdict = this.#judge(message);
      if (verdict !== 'passed-over') effect = true;
      if (verdict !== 'deliver') continue;
      const { now } = this.#world;
      const before = message.place.kind === 'delivered' ? message.place : undefined;
      const count = (before?.count ?? 0) + 1;
      const elsewhere = before?.elsewhere ?? 0;
      const firstAt = before?.firstAt ?? Math.max(now, message.sentAt);
      const visibleAt = now + (seconds ?? this.#model.settings.visibilitySeconds) * 1000;
      const lease = this.#model.lease(message, { visibleAt, leasedAt: now, count, elsewhere, firstAt });
      const { sequence, id, body, sentAt, deadLetterSource } = message;
      messages.push({ sequence, id, body, sentAt, deadLetterSource, count, firstAt, lease });
    }
    return { kind: 'received', messages, unreadable: this.#unreadable, effect };
  }

  /** Redeliveries and due delays, the longest visible first, take turns with what was never delivered, which begins in some commits. */
  *#visible(): Generator<ModelMessage, void, undefined> {
    const { now } = this.#world;
    const { messages, fairness } = this.#model;
    const due = messages.filter(({ place }) => place.kind === 'delayed' && place.dueAt <= now);
    const again = [
      ...messages.filter(({ place }) => place.kind === 'delivered' && place.visibleAt <= now),
      ...due.filter(({ quiet }) => !quiet),
    ];
    const since = ({ place }: ModelMessage): number =>
      place.kind === 'delivered' ? place.visibleAt : place.kind === 'delayed' ? place.dueAt : 0;
    again.sort((a, b) => since(a) - since(b) || a.sequence - b.sequence);
    const ready = messages.filter(({ place }) => place.kind === 'ready');
    const inTurn = fairness.inTurn(
      ready,
      due.filter(({ quiet }) => quiet),
    );
    const ones = [...(this.#world.version + 1).toString(2)].filter((digit) => digit === '1').length;
    if (again.length > 0 && ones % 2 === 1) {
      const next = inTurn.next();
      if (!next.done) yield next.value;
    }
    for (const message of again) {
      yield message;
      const next = inTurn.next();
      if (!next.done) yield next.value;
    }
    yield* inTurn;
  }

  #judge(message: ModelMessage): 'deliver' | 'changed' | 'passed-over' {
    const { place } = message;
    const target = this.#targetOf(place);
    if (target !== undefined && this.#model.moving() >= INTENTS_MAX) return 'passed-over';
    // A letter that can't be read stays, or it would hold up those behind it.
    if (message.segment !== undefined && this.#world.unreadable(message.segment)) {
      this.#unreadable = true;
      return 'passed-over';
    }
    if (this.#model.isOld(message.sentAt, this.#world)) {
      this.#model.drop((candidate) => candidate === message);
      return 'changed';
    }
    if (target === undefined || place.kind !== 'delivered') return 'deliver';
    const number = (this.#model.given.get(target) ?? 0) + 1;
    this.#model.given.set(target, number);
    const { count, elsewhere, firstAt } = place;
    message.place = { kind: 'moving', target, number, count, elsewhere, firstAt };
    return 'changed';
  }

  /** Where the message has to go instead of to one more consumer. */
  #targetOf(place: ModelPlace): string | undefined {
    const { redrive } = this.#model.settings;
    if (!redrive || place.kind !== 'delivered' || place.count - place.elsewhere < redrive.maxReceiveCount)
      return undefined;
    const target = this.#world.target(redrive.queueName);
    return target === 'missing' ? undefined : target;
  }
}
