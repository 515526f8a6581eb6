/**
 * What a reproduction plays on: the SQS handler on the real engine, in virtual time. Requests are signed by the SDK's
 * own signer, so a reproduction goes the way a client's call goes, from the signature to the bucket and back.
 *
 * The digests are Node's and synchronous: virtual time takes a promise that leaves the thread, as Web Crypto's do, for
 * an idle world and lets time run.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { it } from 'node:test';
import type { SqsDigests } from '../../src/protocol/sqs/digests.ts';
import { type Fields, type QueryOptions, query, type XmlReply } from '../protocol-support/query-client.ts';
import {
  type CallOptions,
  type Reply,
  type SqsTestClient,
  sqsTestClient,
} from '../protocol-support/sqs-client.ts';
import { accountId, type NodeOptions, region, second, type TestNode, World } from '../support/world.ts';

const digests: SqsDigests = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  hmacSha256: (key, data) => new Uint8Array(createHmac('sha256', key).update(data).digest()),
  md5Hex: (data) => createHash('md5').update(data).digest('hex'),
};

export interface AttributeValue {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

/** A message as a receive shows it. */
export interface Received {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MD5OfMessageAttributes?: string;
  readonly MessageAttributes?: Readonly<Record<string, AttributeValue>>;
}

export interface FailedEntry {
  readonly Id: string;
  readonly Code: string;
  readonly Message: string;
  readonly SenderFault: boolean;
}

export interface BatchReply {
  readonly Successful?: readonly { readonly Id: string }[];
  readonly Failed?: readonly FailedEntry[];
}

/** A client of one node, a new one unless told which. */
export class Sqs {
  readonly world: World;
  readonly node: TestNode;
  readonly #client: SqsTestClient;

  constructor(world: World, options: NodeOptions = {}) {
    this.world = world;
    this.node = world.startNode(options);
    this.#client = sqsTestClient(this.node.service, { digests, accountId, region });
  }

  /** Not waited for: time stands still until the world runs. */
  calling(action: string, body: object, options?: CallOptions): Promise<Reply> {
    return this.#client.call(action, body, options);
  }

  call(action: string, body: object, options?: CallOptions): Promise<Reply> {
    return this.world.run(this.calling(action, body, options));
  }

  /** Over the legacy query protocol. */
  query(fields: Fields, options: QueryOptions = {}): Promise<XmlReply> {
    return this.world.run(query(this.#client.handler, fields, options));
  }

  /** A call that must succeed; its answer. */
  async done(
    action: string,
    body: object,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const reply = await this.call(action, body, options);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body;
  }

  /** The legacy code of a call that must be refused as the sender's fault, and its message. */
  async refused(action: string, body: object): Promise<readonly [code: string, message: unknown]> {
    const reply = await this.call(action, body);
    assert.equal(reply.status, 400, JSON.stringify(reply.body));
    const [code, fault] = String(reply.headers['x-amzn-query-error']).split(';');
    assert.equal(fault, 'Sender');
    return [code ?? '', reply.body.message];
  }

  async create(QueueName: string, Attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    return String((await this.done('CreateQueue', { QueueName, Attributes })).QueueUrl);
  }

  /** The message id. */
  async send(QueueUrl: string, MessageBody: string, more: object = {}): Promise<string> {
    return String((await this.done('SendMessage', { QueueUrl, MessageBody, ...more })).MessageId);
  }

  receiving(QueueUrl: string, more: object = {}, options?: CallOptions): Promise<readonly Received[]> {
    return this.calling('ReceiveMessage', { QueueUrl, ...more }, options).then(messagesOf);
  }

  receive(QueueUrl: string, more: object = {}): Promise<readonly Received[]> {
    return this.world.run(this.receiving(QueueUrl, more));
  }

  async receiveOne(QueueUrl: string, more: object = {}): Promise<Received> {
    const [message, ...others] = await this.receive(QueueUrl, more);
    assert.ok(message !== undefined && others.length === 0, 'one message came');
    return message;
  }

  delete(QueueUrl: string, { ReceiptHandle }: Received): Promise<unknown> {
    return this.done('DeleteMessage', { QueueUrl, ReceiptHandle });
  }

  changeVisibility(QueueUrl: string, { ReceiptHandle }: Received, VisibilityTimeout: number): Promise<Reply> {
    return this.call('ChangeMessageVisibility', { QueueUrl, ReceiptHandle, VisibilityTimeout });
  }

  async attributes(QueueUrl: string, ...AttributeNames: readonly string[]) {
    const { Attributes } = await this.done('GetQueueAttributes', { QueueUrl, AttributeNames });
    return (Attributes ?? {}) as Readonly<Record<string, string>>;
  }

  /** Visible, in flight, delayed. */
  async counts(QueueUrl: string): Promise<readonly string[]> {
    const names = ['', 'NotVisible', 'Delayed'].map((kind) => `ApproximateNumberOfMessages${kind}`);
    const found = await this.attributes(QueueUrl, ...names);
    return names.map((name) => found[name] ?? 'absent');
  }

  async advance(seconds: number): Promise<void> {
    await this.world.clock.advance(seconds * second);
  }

  /** Virtual wall time. */
  get nowMillis(): number {
    return this.world.clock.wallMillis();
  }
}

function messagesOf(reply: Reply): readonly Received[] {
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return (reply.body.Messages ?? []) as readonly Received[];
}

export function bodies(messages: readonly Received[]): readonly string[] {
  return messages.map(({ Body }) => Body).sort();
}

export const text = (StringValue: string, DataType = 'String'): AttributeValue => ({ DataType, StringValue });

/** A FIFO queue that deduplicates by content, unless it is told otherwise. */
export function fifo(
  sqs: Sqs,
  attributes: Readonly<Record<string, string>> = {},
  name = 'q.fifo',
): Promise<string> {
  return sqs.create(name, { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes });
}

export function redrive(
  target: string,
  maxReceiveCount: number | string,
): { readonly RedrivePolicy: string } {
  const deadLetterTargetArn = `arn:aws:sqs:${region}:${accountId}:${target}`;
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }) };
}

/** A test on a fresh world, named by what must hold; a comment beside each says whose report it is. */
export function reproduction(
  name: string,
  play: (sqs: Sqs) => Promise<void>,
  options: NodeOptions = {},
): void {
  it(name, async () => {
    const world = new World();
    try {
      await play(new Sqs(world, options));
      await world.check();
    } finally {
      world.end();
    }
  });
}
