/**
 * A small in-memory QueueService for tests of surfaces: enough of SQS to carry a conversation, with no store and no
 * clock but the one it is given. Of permissions and sources of dead letters it knows nothing: tests of them play on the
 * engine (test/reports/reproduction.ts). Rare outcomes are had by overriding a method: `{ ...fake, purgeQueue: … }`.
 */
import type { MessageContent, StoredMessage } from '../../src/core/message.ts';
import { isFifoName, queueNameOfArn } from '../../src/core/queue-arn.ts';
import {
  differingAttribute,
  mergeAttributes,
  parseAttributes,
  type QueueAttributes,
  resolveAttributes,
  shownAttributes,
} from '../../src/core/queue-attributes.ts';
import { tagsProblem } from '../../src/core/queue-tags.ts';
import { deadLetterTargetMissing } from '../../src/core/redrive-policy.ts';
import type { QueueService, ReceivedMessage, ReceiveRequest } from '../../src/engine/queue-api.ts';

interface HeldMessage {
  readonly stored: StoredMessage;
  visibleAtMillis: number;
  receiveCount: number;
  firstReceivedAtMillis: number;
  handle: string | undefined;
}

interface FakeQueue {
  attributes: QueueAttributes;
  readonly tags: Map<string, string>;
  readonly createdAtMillis: number;
  modifiedAtMillis: number;
  messages: HeldMessage[];
}

const missing = { kind: 'queue-missing' } as const;

function wellFormed(handle: string): boolean {
  return /^[A-Za-z0-9+/]+=*$/.test(handle) && handle.length >= 8;
}

export class FakeQueues {
  readonly queues = new Map<string, FakeQueue>();
  readonly #waiters = new Set<() => void>();
  readonly nowMillis: () => number;
  #serial = 0;

  constructor(nowMillis: () => number = () => Date.now()) {
    this.nowMillis = nowMillis;
  }

  wake(): void {
    for (const waiter of this.#waiters) waiter();
  }

  add(queue: FakeQueue, content: MessageContent, senderId: string, delaySeconds: number): string {
    this.#serial += 1;
    const now = this.nowMillis();
    const messageId = `00000000-0000-4000-8000-${String(this.#serial).padStart(12, '0')}`;
    queue.messages.push({
      stored: { ...content, messageId, senderId, sentAtMillis: now, deadLetterSourceArn: undefined },
      visibleAtMillis: now + delaySeconds * 1000,
      receiveCount: 0,
      firstReceivedAtMillis: 0,
      handle: undefined,
    });
    this.wake();
    return messageId;
  }

  take(queue: FakeQueue, request: ReceiveRequest): readonly ReceivedMessage[] {
    const now = this.nowMillis();
    const timeout =
      request.visibilityTimeoutSeconds ?? resolveAttributes(queue.attributes).visibilityTimeoutSeconds;
    return queue.messages
      .filter((held) => held.visibleAtMillis <= now)
      .slice(0, request.maxMessages)
      .map((held) => {
        this.#serial += 1;
        held.receiveCount += 1;
        held.firstReceivedAtMillis ||= now;
        held.visibleAtMillis = now + timeout * 1000;
        held.handle = btoa(`handle/${held.stored.messageId}/${this.#serial}`);
        return {
          message: held.stored,
          receiptHandle: held.handle,
          receiveCount: held.receiveCount,
          firstReceivedAtMillis: held.firstReceivedAtMillis,
        };
      });
  }

  /** Resolves with the next send, or when the signal fires. Time never ends it: no timers in tests. */
  async nextSend(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  giveBack(queue: FakeQueue, handles: readonly string[]): void {
    for (const held of queue.messages) {
      if (held.handle === undefined || !handles.includes(held.handle)) continue;
      held.visibleAtMillis = this.nowMillis();
      held.receiveCount -= 1;
      held.handle = undefined;
    }
  }
}

async function receive(fake: FakeQueues, queue: FakeQueue, request: ReceiveRequest) {
  const wait = request.waitSeconds ?? resolveAttributes(queue.attributes).receiveWaitSeconds;
  let messages = fake.take(queue, request);
  while (messages.length === 0 && wait > 0 && !request.signal.aborted) {
    await fake.nextSend(request.signal);
    messages = request.signal.aborted ? [] : fake.take(queue, request);
  }
  const handles = messages.map((message) => message.receiptHandle);
  return { kind: 'done' as const, messages, undelivered: async () => fake.giveBack(queue, handles) };
}

function attributeOperations(fake: FakeQueues): Pick<QueueService, 'createQueue' | 'setQueueAttributes'> {
  const targetProblem = (attributes: QueueAttributes) => {
    const { redrivePolicy } = resolveAttributes(attributes);
    const target = redrivePolicy && queueNameOfArn(redrivePolicy.deadLetterTargetArn);
    return target && !fake.queues.has(target.name)
      ? {
          kind: 'bad-attributes' as const,
          problem: deadLetterTargetMissing(attributes.get('RedrivePolicy') ?? ''),
        }
      : undefined;
  };
  return {
    async createQueue(name, input, tags = new Map()) {
      const parsed = parseAttributes(input, 'create', isFifoName(name));
      if (parsed.kind === 'problem') return { kind: 'bad-attributes', problem: parsed.problem };
      const existing = fake.queues.get(name);
      if (existing !== undefined) {
        const attribute = differingAttribute(existing.attributes, parsed.attributes);
        return attribute === undefined ? { kind: 'exists' } : { kind: 'differs', attribute };
      }
      const attributes = mergeAttributes(new Map(), parsed.attributes);
      const refused = targetProblem(attributes);
      if (refused !== undefined) return refused;
      const now = fake.nowMillis();
      fake.queues.set(name, {
        attributes,
        tags: new Map(tags),
        createdAtMillis: now,
        modifiedAtMillis: now,
        messages: [],
      });
      return { kind: 'created' };
    },

    async setQueueAttributes(name, input) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      const parsed = parseAttributes(input, 'set', isFifoName(name));
      if (parsed.kind === 'problem') return { kind: 'bad-attributes', problem: parsed.problem };
      const attributes = mergeAttributes(queue.attributes, parsed.attributes);
      const refused = targetProblem(attributes);
      if (refused !== undefined) return refused;
      queue.attributes = attributes;
      queue.modifiedAtMillis = fake.nowMillis();
      return { kind: 'done' };
    },
  };
}

function queueOperations(
  fake: FakeQueues,
): Pick<QueueService, 'queueExists' | 'getQueue' | 'listQueues' | 'deleteQueue' | 'purgeQueue'> {
  return {
    queueExists: async (name) => fake.queues.has(name),

    async getQueue(name) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      const now = fake.nowMillis();
      const hidden = queue.messages.filter((held) => held.visibleAtMillis > now);
      const delayed = hidden.filter((held) => held.receiveCount === 0).length;
      return {
        kind: 'queue',
        name,
        attributes: shownAttributes(queue.attributes),
        createdAtMillis: queue.createdAtMillis,
        modifiedAtMillis: queue.modifiedAtMillis,
        visibleCount: queue.messages.length - hidden.length,
        inFlightCount: hidden.length - delayed,
        delayedCount: delayed,
        countsEstimated: false,
      };
    },

    async listQueues({ prefix, startAfter, limit }) {
      const names = [...fake.queues.keys()]
        .filter((name) => name.startsWith(prefix) && (startAfter === undefined || name > startAfter))
        .sort();
      return { names: names.slice(0, limit), truncated: names.length > limit };
    },

    deleteQueue: async (name) => (fake.queues.delete(name) ? { kind: 'done' } : missing),

    async purgeQueue(name) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      queue.messages = [];
      return { kind: 'done' };
    },
  };
}

function annotations(
  fake: FakeQueues,
): Pick<
  QueueService,
  | 'tagQueue'
  | 'untagQueue'
  | 'queueTags'
  | 'addPermission'
  | 'removePermission'
  | 'deadLetterSources'
  | 'startMoveTask'
  | 'moveTasks'
  | 'cancelMoveTask'
> {
  const done = async (name: string) => (fake.queues.has(name) ? ({ kind: 'done' } as const) : missing);
  return {
    async tagQueue(name, tags) {
      const problem = tagsProblem(tags);
      if (problem !== undefined) return { kind: 'bad-tags', problem };
      for (const [key, value] of tags) fake.queues.get(name)?.tags.set(key, value);
      return done(name);
    },

    async untagQueue(name, keys) {
      for (const key of keys) fake.queues.get(name)?.tags.delete(key);
      return done(name);
    },

    async queueTags(name) {
      const queue = fake.queues.get(name);
      return queue === undefined ? missing : { kind: 'tags', tags: queue.tags };
    },

    addPermission: done,
    removePermission: done,

    startMoveTask: async () => missing,
    moveTasks: async (name) => (fake.queues.has(name) ? { kind: 'tasks', tasks: [] } : missing),
    cancelMoveTask: async () => missing,

    deadLetterSources: async (name) =>
      fake.queues.has(name)
        ? { kind: 'sources', names: [], resumeAfter: undefined, endedEarly: false }
        : missing,
  };
}

export function fakeQueueService(fake: FakeQueues = new FakeQueues()): QueueService {
  return {
    ...attributeOperations(fake),
    ...queueOperations(fake),
    ...annotations(fake),

    async send(name, senderId, entries) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      const { maximumMessageBytes, delaySeconds } = resolveAttributes(queue.attributes);
      const outcomes = entries.map((entry) =>
        entry.contentBytes > maximumMessageBytes
          ? { kind: 'too-large' as const, maximumBytes: maximumMessageBytes }
          : {
              kind: 'sent' as const,
              messageId: fake.add(queue, entry.content, senderId, entry.delaySeconds ?? delaySeconds),
            },
      );
      return { kind: 'done', entries: outcomes };
    },

    async receive(name, request) {
      const queue = fake.queues.get(name);
      return queue === undefined ? missing : receive(fake, queue, request);
    },

    async deleteMessages(name, receiptHandles) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      const entries = receiptHandles.map((handle) => {
        if (!wellFormed(handle)) return { kind: 'malformed-handle' as const };
        queue.messages = queue.messages.filter((held) => held.handle !== handle);
        return { kind: 'done' as const };
      });
      return { kind: 'done', entries };
    },

    async changeVisibility(name, changes) {
      const queue = fake.queues.get(name);
      if (queue === undefined) return missing;
      const entries = changes.map(({ receiptHandle, visibilityTimeoutSeconds }) => {
        if (!wellFormed(receiptHandle)) return { kind: 'malformed-handle' as const };
        const held = queue.messages.find((message) => message.handle === receiptHandle);
        if (held === undefined) return { kind: 'not-available' as const };
        held.visibleAtMillis = fake.nowMillis() + visibilityTimeoutSeconds * 1000;
        fake.wake();
        return { kind: 'done' as const };
      });
      return { kind: 'done', entries };
    },
  };
}
