/** What every command of these tests is: one thing a client or an operator does, judged by the model at once. */
import assert from 'node:assert/strict';
import type fc from 'fast-check';
import type { ServiceUnderTest } from './service-under-test.ts';
import type { ModelQueue, SqsModel } from './sqs-model.ts';

export abstract class ServiceCommand implements fc.AsyncCommand<SqsModel, ServiceUnderTest> {
  check(_model: Readonly<SqsModel>): boolean {
    return true;
  }

  async run(model: SqsModel, real: ServiceUnderTest): Promise<void> {
    model.timePassed(real.now);
    real.history.push(`${this}`);
    await this.play(model, real);
    model.timePassed(real.now);
  }

  /** What came of it goes to the history: `toString` says what was drawn, since runs share the command. */
  protected abstract play(model: SqsModel, real: ServiceUnderTest): Promise<void>;

  abstract toString(): string;
}

/** The queue of the model, when the service, too, says that it is there. */
export function agreedQueue(
  model: SqsModel,
  name: string,
  outcome: { readonly kind: string },
): ModelQueue | undefined {
  const queue = model.queues.get(name);
  assert.equal(outcome.kind === 'queue-missing', queue === undefined, `${name} is missing: ${outcome.kind}`);
  return queue;
}

/** `{ a: 1 }` without what is undefined, for the names of commands. */
export function shown(fields: object): string {
  return JSON.stringify(fields).replaceAll('"', '').replaceAll('\\', '');
}
