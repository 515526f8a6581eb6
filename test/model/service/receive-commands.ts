/** Receives: short and long, on one node or on both at once, and by clients that are gone when the answer comes. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ReceiveOutcome, ReceiveRequest } from '../../../src/engine/queue-api.ts';
import { receiveDefaults } from '../../support/world.ts';
import { anyName, anyNode, QueueCommand } from './queue-commands.ts';
import { type ReceiveCall, ReceiveJudge } from './receive-rules.ts';
import { agreedQueue, ServiceCommand, shown } from './service-command.ts';
import { nodeCount, type ServiceUnderTest } from './service-under-test.ts';
import { later, type ModelQueue, type Span, type SqsModel, shortOf, staleMillis } from './sqs-model.ts';

type DrawnRequest = Pick<ReceiveRequest, 'maxMessages' | 'waitSeconds' | 'visibilityTimeoutSeconds'>;

const anyRequest: fc.Arbitrary<DrawnRequest> = fc.record(
  {
    // With room for all, what did not come was not there.
    maxMessages: fc.constantFrom(10, 10, 10, 1, 2),
    waitSeconds: fc.constantFrom(0, 0, 0, undefined, 5),
    visibilityTimeoutSeconds: fc.constantFrom(undefined, undefined, 0, 1, 10),
  },
  { noNullPrototype: true },
);

interface AnsweredReceive {
  readonly outcome: ReceiveOutcome;
  readonly request: DrawnRequest;
  readonly span: Span;
  readonly life: number;
}

/** Compares the answers with the model. Undefined: there is no such queue. */
export async function finish(
  model: SqsModel,
  real: ServiceUnderTest,
  name: string,
  answers: readonly AnsweredReceive[],
): Promise<{ readonly queue: ModelQueue; readonly calls: readonly ReceiveCall[] } | undefined> {
  for (const { outcome, life } of answers)
    real.history.push(`  life ${life} answers ${shownOutcome(outcome)}`);
  const deleted = model.deleted.get(name);
  if (!model.queues.has(name) && deleted) {
    // Empty and soon after another node deleted it: a receive may rest on what its node knew.
    for (const { outcome, span, life } of answers) {
      const mayRest = life !== deleted.by && span.begin <= deleted.at + staleMillis;
      if (outcome.kind === 'done' && mayRest) assert.equal(outcome.messages.length, 0);
      else assert.equal(outcome.kind, 'queue-missing');
    }
    return undefined;
  }
  model.timePassed(real.now);
  const calls = answers.flatMap(({ outcome, request, span, life }) => {
    const queue = agreedQueue(model, name, outcome);
    if (!queue) return [];
    assert.ok(outcome.kind === 'done', outcome.kind);
    const { maxMessages, visibilityTimeoutSeconds: visibilitySeconds, waitSeconds } = request;
    return [{ life, maxMessages, visibilitySeconds, waitSeconds, span, messages: outcome.messages }];
  });
  const queue = model.queues.get(name);
  if (!queue) return undefined;
  const judge = new ReceiveJudge(model, queue);
  judge.judge(calls);
  if (model.redrive(queue)) await real.settle();
  judge.moved(calls, real.now);
  return { queue, calls };
}

function shownOutcome(outcome: ReceiveOutcome): string {
  if (outcome.kind !== 'done') return outcome.kind;
  const messages = outcome.messages.map(
    ({ message, receiveCount }) => `${shortOf(message.body)} (${receiveCount}.)`,
  );
  return `[${messages.join(' ')}]`;
}

class Receive extends ServiceCommand {
  readonly #nodes: readonly number[];
  readonly #name: string;
  readonly #request: DrawnRequest;

  /** Several nodes are asked at once. */
  constructor(nodes: readonly number[], name: string, request: DrawnRequest) {
    super();
    this.#nodes = nodes;
    this.#name = name;
    this.#request = request;
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const request = { ...receiveDefaults(), ...this.#request };
    const answers = this.#nodes.map(async (node) => {
      const life = real.life(node);
      const timed = await real.timed(node, (service) => service.receive(this.#name, request));
      return { ...timed, request, life };
    });
    const answered = await real.world.run(Promise.all(answers));
    await finish(model, real, this.#name, answered);
  }

  toString(): string {
    return `Receive(${this.#name} on node ${this.#nodes.join(' and ')}, ${shown(this.#request)})`;
  }
}

/** The client is gone when the answer comes: what was leased is given back as if it had never been received. */
class ReceiveAndVanish extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const request = receiveDefaults();
    const life = real.life(this.node);
    const timed = await real.call(this.node, (service) => service.receive(this.name, request));
    const { outcome } = timed;
    if (outcome.kind === 'done') await real.world.run(outcome.undelivered());
    const givenBackBy = real.now;
    const judged = await finish(model, real, this.name, [{ ...timed, request, life }]);
    if (!judged) return;
    for (const { message } of judged.calls.flatMap(({ messages }) => messages)) {
      const known = model.messagesOf(judged.queue).find(({ body }) => body === message.body)!;
      model.timePassed(real.now);
      // A node to which it has expired gives nothing back.
      known.countInDoubt = known.mayBeGone;
      known.holderInDoubt = known.mayBeGone;
      if (!known.mayBeGone) known.holder = undefined;
      const back = later({ begin: timed.span.begin, end: givenBackBy }, 0);
      known.visible = known.mayBeGone ? { ...back, end: known.visible.end } : back;
      if (!known.mayBeGone) known.receiveCount--;
    }
  }
}

export const receives = fc
  .tuple(
    anyNode.map((node) => [node]),
    anyName,
    anyRequest,
  )
  .map((drawn) => new Receive(...drawn));
const everyNode = Array.from({ length: nodeCount }, (_, node) => node);
export const racingReceives = fc
  .tuple(anyName, anyRequest)
  .map(([name, request]) => new Receive(everyNode, name, request));
export const vanishings = fc.tuple(anyNode, anyName).map((drawn) => new ReceiveAndVanish(...drawn));
