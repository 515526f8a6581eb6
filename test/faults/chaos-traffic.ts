/**
 * The clients of chaos.ts, on five groups of queues. Each group has a history of its own:
 * - plain: delays, visibility changes, large bodies;
 * - letters: a queue whose consumers forget much, and its dead-letter queue;
 * - purged: emptied every few seconds;
 * - recreated: deleted and created again every few seconds;
 * - ordered: a FIFO queue of few message groups (fifo-clients.ts).
 */
import { emptyGroupHistory, fifoClient, type RecordedGroupHistory } from './fifo-client.ts';
import { consumeGroups, type FifoProgress, produceOnce } from './fifo-clients.ts';
import type { RedrivePair } from './history-dead-letters.ts';
import { pause } from './okuri-process.ts';
import type { SeededRandom } from './random.ts';
import { bodyBytes, consume } from './random-clients.ts';
import {
  bodyOf,
  type ClientHabits,
  emptyHistory,
  now,
  type QueueClient,
  type RecordedHistory,
  recordingClient,
} from './recording-client.ts';
import { type Answer, call } from './signed-client.ts';

export interface Phase {
  /** Producers and erasures end. */
  over: boolean;
  /** Consumers delete everything at once. */
  draining: boolean;
  /** Consumers end. */
  stop: boolean;
}

export interface Group {
  readonly name: string;
  /** Consumers work on all of them, producers on the first. */
  readonly queues: readonly string[];
  readonly attributes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly history: RecordedHistory;
  readonly forgetful: number;
  readonly erasedBy?: 'PurgeQueue' | 'DeleteQueue';
  readonly redrive?: RedrivePair;
  /** What clients of a FIFO queue saw; `history` counts what they were refused. */
  readonly ordered?: RecordedGroupHistory;
}

const producersPerGroup = 3;
const consumersPerQueue = 4;
const loyalty = 0.9;
const insistTries = 200;
const receiveCountMax = 3;
/** Few, so that most are deep and held. */
const messageGroups = 12;
const eraseEveryMillis = [2_000, 15_000] as const;

export function groupsOf(seed: number): readonly Group[] {
  const name = (what: string) => `chaos-${seed}-${what}`;
  const redrive = { source: name('work'), target: name('dead'), receiveCountMax };
  const policy = {
    deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${redrive.target}`,
    maxReceiveCount: receiveCountMax,
  };
  const group = (what: string, rest: Partial<Group> = {}): Group => ({
    name: what,
    queues: [name(what)],
    attributes: {},
    history: emptyHistory(),
    forgetful: 0,
    ...rest,
  });
  return [
    group('plain'),
    group('letters', {
      queues: [redrive.source, redrive.target],
      attributes: { [redrive.source]: { RedrivePolicy: JSON.stringify(policy) } },
      forgetful: 0.3,
      redrive,
    }),
    group('purged', { erasedBy: 'PurgeQueue' }),
    group('recreated', { erasedBy: 'DeleteQueue' }),
    orderedGroup(name('ordered.fifo')),
  ];
}

function orderedGroup(queue: string): Group {
  return {
    name: 'ordered',
    queues: [queue],
    attributes: { [queue]: { FifoQueue: 'true' } },
    history: emptyHistory(),
    forgetful: 0,
    ordered: emptyGroupHistory(),
  };
}

/** Calls one node after the other until one accepts. @throws when one refuses other than by 503. */
async function insist(
  urls: readonly string[],
  action: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  for (let attempt = 0; attempt < insistTries; attempt += 1) {
    const answer = await call(urls[attempt % urls.length] as string, action, input, 3_000);
    if (answer.kind === 'ok') return answer;
    if (answer.kind === 'refused' && answer.status !== 503)
      throw new Error(`${action}: ${JSON.stringify(answer)}`);
    await pause(200);
  }
  throw new Error(`${action} was not answered in ${insistTries} tries`);
}

export class Traffic {
  readonly #urls: readonly string[];
  readonly #random: SeededRandom;
  readonly #phase: Phase;

  constructor(urls: readonly string[], random: SeededRandom, phase: Phase) {
    this.#urls = urls;
    this.#random = random;
    this.#phase = phase;
  }

  /** Dead-letter queues first: a policy must name one that is there. */
  async create({ queues, attributes }: Group): Promise<void> {
    for (const QueueName of queues.toReversed())
      await insist(this.#urls, 'CreateQueue', { QueueName, Attributes: attributes[QueueName] ?? {} });
  }

  /** @returns when producers and erasures, and when consumers have ended. */
  run(group: Group): { readonly produced: Promise<unknown>; readonly consumed: Promise<unknown> } {
    if (group.ordered !== undefined) return this.#runOrdered(group.queues[0] as string, group.ordered);
    const producing = Array.from({ length: producersPerGroup }, (_, n) =>
      this.#produce(`${group.name}-p${n}`, this.#client(group, group.queues[0] as string)),
    );
    const consuming = group.queues.flatMap((queue) =>
      Array.from({ length: consumersPerQueue }, () =>
        consume(this.#client(group, queue), this.#random.fork(), this.#phase, group.forgetful),
      ),
    );
    if (group.erasedBy !== undefined) producing.push(this.#erase(group, group.erasedBy));
    return { produced: Promise.all(producing), consumed: Promise.all(consuming) };
  }

  #runOrdered(queue: string, history: RecordedGroupHistory) {
    const phase = this.#phase;
    const progress: Pick<FifoProgress, 'acknowledged' | 'wanted' | 'groups'> = {
      acknowledged: 0,
      get wanted() {
        return phase.over ? 0 : Number.POSITIVE_INFINITY;
      },
      groups: messageGroups,
    };
    const client = () =>
      fifoClient(this.#urls, queueUrl(queue), history, this.#random.fork(), this.#habits(queue));
    const producing = Array.from({ length: producersPerGroup }, (_, n) =>
      produceOnce(`ordered-p${n}`, client, this.#random.fork(), progress),
    );
    const consuming = Array.from({ length: consumersPerQueue }, () =>
      consumeGroups(client(), this.#random.fork(), phase),
    );
    return { produced: Promise.all(producing), consumed: Promise.all(consuming) };
  }

  #client(group: Group, queue: string): QueueClient {
    const habits = this.#habits(queue, group.erasedBy === 'DeleteQueue');
    return recordingClient(this.#urls, queueUrl(queue), group.history, this.#random.fork(), habits);
  }

  #habits(queue: string, queueMayBeMissing = false): ClientHabits {
    const random = this.#random.fork();
    return {
      queue,
      loyalty,
      queueMayBeMissing,
      // Some hang up in the middle of a poll, few are very patient.
      patienceMillis: (waitSeconds) => {
        if (random.chance(0.03)) return random.between(20, 1_000 + waitSeconds * 1_000);
        return waitSeconds * 1_000 + (random.chance(0.1) ? 25_000 : random.between(2_000, 6_000));
      },
    };
  }

  async #produce(name: string, client: QueueClient): Promise<void> {
    const random = this.#random.fork();
    for (let round = 0; !this.#phase.over; round += 1) {
      const count = random.chance(0.3) ? 1 : random.between(1, 10);
      const bodies = Array.from({ length: count }, (_, n) =>
        bodyOf(`${name}-${round}-${n}`, bodyBytes(random, count)),
      );
      await client.send(bodies, random.chance(0.1) ? random.between(1, 5) : 0);
      await pause(random.chance(0.02) ? random.between(1_000, 4_000) : random.between(20, 400));
    }
  }

  async #erase(group: Group, action: 'PurgeQueue' | 'DeleteQueue'): Promise<void> {
    const random = this.#random.fork();
    const [QueueName = ''] = group.queues;
    while (!this.#phase.over) {
      const nextAt = now() + random.between(...eraseEveryMillis);
      while (now() < nextAt) {
        const { queueMissing } = group.history;
        await pause(Math.min(500, nextAt - now() + 1));
        // A deletion that had no answer came after our creation.
        if (group.history.queueMissing > queueMissing) await this.create(group);
      }
      const began = now();
      const acknowledged = await this.#insistOnErasure(group.history, action, queueUrl(QueueName));
      group.history.erasures.push({ acknowledged, began, ended: now() });
      if (action === 'DeleteQueue') await this.create(group);
    }
  }

  /**
   * Tries without an answer may take effect later; a queue that is gone was erased by one of them.
   * @returns false when it was refused, or did not work before the end.
   */
  async #insistOnErasure(history: RecordedHistory, action: string, QueueUrl: string): Promise<boolean> {
    while (!this.#phase.over) {
      const began = now();
      const node = this.#urls[this.#random.between(0, this.#urls.length - 1)] as string;
      const answer = await call(node, action, { QueueUrl }, 5_000);
      if (answer.kind === 'ok') return true;
      if (answer.kind === 'refused' && answer.type.endsWith('#QueueDoesNotExist')) return true;
      if (answer.kind === 'refused' && answer.status !== 503) {
        history.mistakes.push(`${action}: ${answer.status} ${answer.type} ${answer.message}`);
        return false;
      }
      history.erasures.push({ acknowledged: false, began, ended: now() });
      await pause(200);
    }
    return false;
  }
}

export const queueUrl = (queue: string): string => `http://okuri/000000000000/${queue}`;
