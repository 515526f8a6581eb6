/**
 * The load of bench/workload.ts in real time: signed clients of real processes, messages by a Poisson process to a node
 * each, workers that long-poll their node, work on all they got at once, delete each message when it is done and poll
 * again after the last.
 */
import { Draw } from '../../bench/draw.ts';
import {
  bodyOf,
  maxMessages,
  numberOf,
  queue,
  waitSeconds,
  workersBeginWithinMillis,
  workersOfEachNode,
  workMillis,
} from '../../bench/load-shape.ts';
import { pause } from './okuri-process.ts';
import { call, mustCall, type SqsBody } from './signed-client.ts';

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly ratePerSecond: number;
  readonly lingerMillis: number;
  readonly seed: number;
}

export class MeasuredLoad {
  readonly sendMillis: number[] = [];
  /** From the call of the send to the worker's hands. */
  readonly endToEndMillis: number[] = [];
  /** Calls that were not answered with success. */
  readonly failures: string[] = [];
  /** Received before. */
  again = 0;
  sent = 0;
  deleted = 0;
  readonly #options: LoadOptions;
  readonly #draw: Draw;
  readonly #sentAt = new Map<string, number>();
  readonly #seen = new Set<string>();
  #queueUrl = '';
  #serial = 0;
  #measuring = false;
  #over = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#draw = new Draw(options.seed);
  }

  async start(): Promise<void> {
    const { urls, ratePerSecond, lingerMillis } = this.#options;
    const { QueueUrl = '' } = await mustCall(urls[0]!, 'CreateQueue', { QueueName: queue });
    this.#queueUrl = QueueUrl;
    const load = { nodes: urls.length, ratePerSecond, tuning: { lingerMillis } };
    for (const url of urls) for (let n = 0; n < workersOfEachNode(load); n++) void this.#work(url);
    void this.#produce();
  }

  measure(): void {
    this.#measuring = true;
  }

  /** What is under way goes on and is not counted; failures from now on are the end of the nodes. */
  end(): void {
    this.#measuring = false;
    this.#over = true;
  }

  async #produce(): Promise<void> {
    const { urls, ratePerSecond } = this.#options;
    let due = performance.now();
    for (;;) {
      due += this.#draw.exponential(1000 / ratePerSecond);
      const millis = due - performance.now();
      if (millis > 0) await pause(millis);
      if (this.#over) return;
      void this.#send(urls[this.#draw.below(urls.length)]!);
    }
  }

  async #send(url: string): Promise<void> {
    const number = `${++this.#serial}`;
    const sentAt = performance.now();
    const measured = this.#measuring;
    this.#sentAt.set(number, measured ? sentAt : Number.NaN);
    const body = await this.#call(url, 'SendMessage', { MessageBody: bodyOf(number) });
    if (body === undefined || !this.#measuring) return;
    this.sent++;
    if (measured) this.sendMillis.push(performance.now() - sentAt);
  }

  async #work(url: string): Promise<void> {
    await pause(this.#draw.between(0, workersBeginWithinMillis));
    while (!this.#over) {
      const input = { MaxNumberOfMessages: maxMessages, WaitTimeSeconds: waitSeconds };
      const body = await this.#call(url, 'ReceiveMessage', input);
      if (body === undefined) {
        await pause(1_000);
        continue;
      }
      await Promise.all(
        (body.Messages ?? []).map(async ({ Body, ReceiptHandle }) => {
          this.#received(numberOf(Body));
          // Each is deleted by a call of its own; the worker polls again without waiting for its answer.
          await pause(this.#draw.exponential(workMillis));
          void this.#delete(url, ReceiptHandle);
        }),
      );
    }
  }

  #received(number: string): void {
    if (this.#seen.has(number)) this.again++;
    this.#seen.add(number);
    const sentAt = this.#sentAt.get(number);
    this.#sentAt.delete(number);
    if (this.#measuring && sentAt !== undefined && !Number.isNaN(sentAt))
      this.endToEndMillis.push(performance.now() - sentAt);
  }

  async #delete(url: string, ReceiptHandle: string): Promise<void> {
    const body = await this.#call(url, 'DeleteMessage', { ReceiptHandle });
    if (body !== undefined && this.#measuring) this.deleted++;
  }

  async #call(url: string, action: string, input: Record<string, unknown>): Promise<SqsBody | undefined> {
    const answer = await call(url, action, { QueueUrl: this.#queueUrl, ...input });
    if (answer.kind === 'ok') return answer.body;
    if (!this.#over) this.failures.push(`${action}: ${JSON.stringify(answer)}`);
    return undefined;
  }
}
