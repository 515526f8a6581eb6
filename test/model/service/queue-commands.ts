/** Create, look up, list, configure, delete and purge queues. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CreateQueueOutcome, SetQueueAttributesOutcome } from '../../../src/engine/queue-api.ts';
import { redrivePolicy } from '../../support/world.ts';
import { agreedQueue, ServiceCommand, shown } from './service-command.ts';
import { nodeCount, type ServiceUnderTest } from './service-under-test.ts';
import type { SqsModel } from './sqs-model.ts';

export const deadName = 'dead';
const queueNames = ['job', 'jobs', deadName] as const;
/** Most of what happens happens to one queue. */
export const anyName = fc.constantFrom('jobs', 'jobs', 'jobs', 'job', deadName);
export const anyNode = fc.nat(nodeCount - 1);

type Attributes = Readonly<Record<string, string>>;

const anyAttributes = fc.record(
  {
    VisibilityTimeout: fc.constantFrom('0', '2', '30'),
    DelaySeconds: fc.constantFrom('0', '3'),
    ReceiveMessageWaitTimeSeconds: fc.constantFrom('0', '2'),
    MaximumMessageSize: fc.constantFrom('1024', '1048576'),
    MessageRetentionPeriod: fc.constantFrom('60', '345600'),
    RedrivePolicy: fc.constantFrom(redrivePolicy(deadName, 1), redrivePolicy(deadName, 2)),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<Attributes>;

/** With what is wrong about them. */
const badAttributes: readonly (readonly [string, Attributes])[] = [
  ['bad-value', { VisibilityTimeout: '43201' }],
  ['bad-value', { DelaySeconds: '-1' }],
  ['unknown-name', { Colour: 'red' }],
  ['bad-policy', { RedrivePolicy: redrivePolicy('nowhere', 1) }],
];

/** A queue may be its own dead-letter queue: then a letter is in both places of this model at once. Tests of its own show it. */
function ofOthers(name: string, attributes: Attributes): Attributes {
  const { RedrivePolicy, ...others } = attributes;
  const isBad = badAttributes.some(([, bad]) => bad === attributes);
  return name === deadName && RedrivePolicy !== undefined && !isBad ? others : attributes;
}

/** A command to one node about one queue. */
export abstract class QueueCommand extends ServiceCommand {
  readonly node: number;
  readonly name: string;
  readonly attributes: Attributes;

  constructor(node: number, name: string, attributes: Attributes = {}) {
    super();
    this.node = node;
    this.name = name;
    this.attributes = ofOthers(name, attributes);
  }

  toString(): string {
    const detail = Object.keys(this.attributes).length > 0 ? `, ${shown(this.attributes)}` : '';
    return `${this.constructor.name}(${this.name} on node ${this.node}${detail})`;
  }
}

/** A command that gives attributes, which may be bad. */
abstract class AttributesCommand extends QueueCommand {
  /** Whether there is something wrong with them; then the outcome says what. */
  protected agreedProblem(model: SqsModel, outcome: CreateQueueOutcome | SetQueueAttributesOutcome): boolean {
    const problem = this.#problem(model);
    if (problem === undefined) return false;
    assert.equal(outcome.kind === 'bad-attributes' ? outcome.problem.kind : outcome.kind, problem);
    return true;
  }

  #problem(model: SqsModel): string | undefined {
    const { attributes } = this;
    const known = badAttributes.find(([, bad]) => bad === attributes);
    if (known) return known[0];
    if ((attributes.RedrivePolicy ?? '') === '') return undefined;
    return model.queues.has(deadName) ? undefined : 'bad-policy';
  }
}

class CreateQueue extends AttributesCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { name, attributes } = this;
    const given = new Map(Object.entries(attributes));
    const { outcome } = await real.call(this.node, (service) => service.createQueue(name, given));
    if (this.agreedProblem(model, outcome)) return;
    const queue = model.queues.get(name);
    if (!queue) {
      assert.deepEqual(outcome, { kind: 'created' });
      const setBy = { attributesSetAt: real.now, attributesSetBy: real.life(this.node) };
      model.queues.set(name, { name, attributes: given, ...setBy });
      return;
    }
    const differing = [...given].filter(([key, value]) => model.attribute(queue, key) !== value);
    assert.equal(outcome.kind, differing.length === 0 ? 'exists' : 'differs');
    if (outcome.kind === 'differs') assert.ok(differing.some(([key]) => key === outcome.attribute));
  }
}

class QueueExists extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { outcome } = await real.call(this.node, (service) => service.queueExists(this.name));
    assert.equal(outcome, model.queues.has(this.name));
  }
}

class SetAttributes extends AttributesCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { name, attributes } = this;
    const given = new Map(Object.entries(attributes));
    const { outcome } = await real.call(this.node, (service) => service.setQueueAttributes(name, given));
    if (this.agreedProblem(model, outcome)) return;
    const queue = agreedQueue(model, name, outcome);
    if (!queue) return;
    assert.equal(outcome.kind, 'done');
    model.timePassed(real.now);
    for (const [key, value] of given)
      if (value === '') queue.attributes.delete(key);
      else queue.attributes.set(key, value);
    queue.attributesSetAt = real.now;
    queue.attributesSetBy = real.life(this.node);
  }
}

class DeleteQueue extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { outcome } = await real.call(this.node, (service) => service.deleteQueue(this.name));
    if (!agreedQueue(model, this.name, outcome)) return;
    model.deleteQueue(this.name, real.now, real.life(this.node));
    real.queueDeleted();
  }
}

class PurgeQueue extends QueueCommand {
  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { outcome } = await real.call(this.node, (service) => service.purgeQueue(this.name));
    const queue = agreedQueue(model, this.name, outcome);
    if (queue) model.clear(queue);
  }
}

class ListQueues extends ServiceCommand {
  readonly #node: number;
  readonly #request: {
    readonly prefix: string;
    readonly startAfter: string | undefined;
    readonly limit: number;
  };

  constructor(node: number, prefix: string, startAfter: string | undefined, limit: number) {
    super();
    this.#node = node;
    this.#request = { prefix, startAfter, limit };
  }

  protected async play(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    const { prefix, startAfter = '', limit } = this.#request;
    const { outcome } = await real.call(this.#node, (service) => service.listQueues(this.#request));
    const names = [...model.queues.keys()].sort();
    const listed = names.filter((name) => name.startsWith(prefix) && name > startAfter);
    assert.deepEqual(outcome, { names: listed.slice(0, limit), truncated: listed.length > limit });
  }

  toString(): string {
    return `ListQueues(${shown(this.#request)} on node ${this.#node})`;
  }
}

export const creates = fc
  .tuple(anyNode, fc.constantFrom(...queueNames), fc.oneof({ weight: 9, arbitrary: anyAttributes }, anyBad()))
  .map((drawn) => new CreateQueue(...drawn));
export const lookUps = fc.tuple(anyNode, anyName).map((drawn) => new QueueExists(...drawn));
export const settings = fc
  .tuple(
    anyNode,
    anyName,
    fc.oneof(
      { weight: 9, arbitrary: anyAttributes },
      { weight: 2, arbitrary: fc.constant({ RedrivePolicy: '' }) },
      anyBad(),
    ),
  )
  .map((drawn) => new SetAttributes(...drawn));
export const queueDeletes = fc.tuple(anyNode, anyName).map((drawn) => new DeleteQueue(...drawn));
export const purges = fc.tuple(anyNode, anyName).map((drawn) => new PurgeQueue(...drawn));
export const lists = fc
  .tuple(
    anyNode,
    fc.constantFrom('', 'j', 'job', 'jobs', 'x'),
    fc.option(fc.constantFrom(...queueNames), { nil: undefined }),
    fc.integer({ min: 1, max: 3 }),
  )
  .map((drawn) => new ListQueues(...drawn));

function anyBad(): fc.Arbitrary<Attributes> {
  return fc.constantFrom(...badAttributes.map(([, attributes]) => attributes));
}
