/**
 * Every call of the façade (queue-api.ts) on the loops and registers of this process. Translates calls to commands and
 * back; decides nothing about messages itself. Over 300 lines because the façade is one interface, each call a few lines.
 */
import type { AttributeProblem } from '../core/attribute-problem.ts';
import type { Command, CommandOutcome, NewMessage } from '../core/command.ts';
import { messageIdFrom } from '../core/ids.ts';
import { STATEMENTS_MAX } from '../core/permissions.ts';
import { isFifoName, queueArn, queueNameOfArn } from '../core/queue-arn.ts';
import {
  mergeAttributes,
  parseAttributes,
  resolveAttributes,
  shownAttributes,
} from '../core/queue-attributes.ts';
import { type QueueTags, tagKeysProblem, tagsProblem } from '../core/queue-tags.ts';
import { decodeReceiptHandle, type ReceiptHandle } from '../core/receipt-handle.ts';
import { attemptHashOf } from '../core/receive-attempts.ts';
import { allowsSource, deadLetterTargetDenies, deadLetterTargetMissing } from '../core/redrive-policy.ts';
import { StoreError } from '../store/object-store.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import { countWithPages } from './count-with-pages.ts';
import { createQueue } from './create-queue.ts';
import { DeadLetterSourceFinder } from './dead-letter-sources.ts';
import { deleteOutcomes, received, sentOutcome, visibilityOutcomes } from './entry-outcomes.ts';
import { listQueues } from './list-queues.ts';
import { ManifestRegister, type ObservedQueue } from './manifest-register.ts';
import { MoveTaskCalls } from './move-task-calls.ts';
import type { LoopOutcome } from './pending.ts';
import { newStatement } from './permission-statement.ts';
import {
  type CreateQueueOutcome,
  type DeadLetterSourcesRequest,
  type MoveTaskRequest,
  type Permission,
  type QueueMissing,
  type QueueService,
  type ReceiveOutcome,
  type ReceiveRequest,
  type SendEntry,
  type SendOutcome,
  Unavailable,
  type VisibilityEntry,
} from './queue-api.ts';
import type { QueueRegistry } from './queue-registry.ts';
import { cooldownMillis } from './settings.ts';
import type { TaskFinder } from './task-finder.ts';

const missing: QueueMissing = { kind: 'queue-missing' };
/** A loop may end under a call, and so may the next one; more often than this in a row is somebody's loop. */
const incarnationsMax = 5;

export class QueueCalls implements QueueService {
  readonly #context: EngineContext;
  readonly #registry: QueueRegistry;
  readonly #stop: AbortSignal;
  readonly #sources: DeadLetterSourceFinder;
  readonly #finder: TaskFinder;
  readonly #tasks: MoveTaskCalls;

  constructor(context: EngineContext, registry: QueueRegistry, finder: TaskFinder, stop: AbortSignal) {
    this.#context = context;
    this.#registry = registry;
    this.#stop = stop;
    this.#sources = new DeadLetterSourceFinder(context, stop);
    this.#finder = finder;
    const queues = {
      read: (name: string) => this.#read(name),
      submit: (name: string, command: Command) => this.#submit(name, command),
    };
    this.#tasks = new MoveTaskCalls(context, queues, this.#sources);
  }

  createQueue(
    name: string,
    attributes: ReadonlyMap<string, string>,
    tags: QueueTags = new Map(),
  ): Promise<CreateQueueOutcome> {
    return this.#guarded(async () => {
      const fifo = isFifoName(name);
      const parsed = parseAttributes(attributes, 'create', fifo);
      if (parsed.kind === 'problem') return { kind: 'bad-attributes', problem: parsed.problem };
      const badTags = tagsProblem(tags);
      if (badTags) return { kind: 'bad-tags', problem: badTags };
      const problem = await this.#redriveProblem(name, parsed.attributes);
      if (problem) return { kind: 'bad-attributes', problem };
      await this.#context.time.prime(this.#context.environment.store);
      const byName = new Map(fifo ? [['FifoQueue', 'true']] : []);
      const given = mergeAttributes(byName, parsed.attributes);
      const { outcome, observed } = await createQueue(this.#context, name, given, tags);
      if (observed && outcome.kind === 'created') this.#registry.adopt(name, observed);
      return outcome;
    });
  }

  queueExists(name: string): Promise<boolean> {
    return this.#guarded(async () => (await this.#read(name)) !== undefined);
  }

  getQueue(name: string): ReturnType<QueueService['getQueue']> {
    return this.#guarded(async () => {
      const counted = await countWithPages(this.#context, name, () => this.#read(name));
      if (!counted) return missing;
      const { state, counts, estimated } = counted;
      return {
        kind: 'queue',
        name,
        attributes: shownAttributes(state.attributes),
        createdAtMillis: state.createdAtMillis,
        modifiedAtMillis: state.modifiedAtMillis,
        visibleCount: counts.visible,
        inFlightCount: counts.inFlight,
        delayedCount: counts.delayed,
        countsEstimated: estimated,
      };
    });
  }

  setQueueAttributes(
    name: string,
    attributes: ReadonlyMap<string, string>,
  ): ReturnType<QueueService['setQueueAttributes']> {
    return this.#guarded(async () => {
      const parsed = parseAttributes(attributes, 'set', isFifoName(name));
      if (parsed.kind === 'problem') return { kind: 'bad-attributes', problem: parsed.problem };
      const problem = await this.#redriveProblem(name, parsed.attributes);
      if (problem) return { kind: 'bad-attributes', problem };
      const outcome = await this.#submit(name, { kind: 'set-attributes', changes: parsed.attributes });
      return outcome.kind === 'queue-missing' ? missing : { kind: 'done' };
    });
  }

  tagQueue(name: string, tags: QueueTags): ReturnType<QueueService['tagQueue']> {
    const problem = tagsProblem(tags);
    if (problem) return Promise.resolve({ kind: 'bad-tags', problem });
    return this.#guarded(async () => {
      const outcome = await this.#submit(name, { kind: 'change-tags', add: tags, remove: [] });
      if (outcome.kind === 'too-many-tags') return { kind: 'bad-tags', problem: 'too-many' };
      return outcome.kind === 'queue-missing' ? missing : { kind: 'done' };
    });
  }

  untagQueue(name: string, keys: readonly string[]): ReturnType<QueueService['untagQueue']> {
    const problem = tagKeysProblem(keys);
    if (problem) return Promise.resolve({ kind: 'bad-tags', problem });
    return this.#guarded(async () => {
      const outcome = await this.#submit(name, { kind: 'change-tags', add: new Map(), remove: keys });
      return outcome.kind === 'queue-missing' ? missing : { kind: 'done' };
    });
  }

  queueTags(name: string): ReturnType<QueueService['queueTags']> {
    return this.#guarded(async () => {
      const queue = await this.#read(name);
      return queue ? { kind: 'tags', tags: queue.state.tags } : missing;
    });
  }

  addPermission(name: string, permission: Permission): ReturnType<QueueService['addPermission']> {
    return this.#guarded(async () => {
      const { accountId, region } = this.#context.settings;
      const statement = newStatement(permission, queueArn({ accountId, region, name }));
      const outcome = await this.#submit(name, { kind: 'add-permission', statement });
      if (outcome.kind === 'queue-missing') return missing;
      if (outcome.kind === 'too-many-statements') return { ...outcome, max: STATEMENTS_MAX };
      if (outcome.kind === 'label-taken' || outcome.kind === 'policy-too-long') return outcome;
      return expected(outcome, 'done');
    });
  }

  removePermission(name: string, label: string): ReturnType<QueueService['removePermission']> {
    return this.#guarded(async () => {
      const outcome = await this.#submit(name, { kind: 'remove-permission', label });
      if (outcome.kind === 'queue-missing') return missing;
      return outcome.kind === 'no-such-label' ? outcome : expected(outcome, 'done');
    });
  }

  deadLetterSources(
    name: string,
    request: DeadLetterSourcesRequest,
  ): ReturnType<QueueService['deadLetterSources']> {
    return this.#guarded(async () =>
      (await this.#read(name)) ? this.#sources.find(name, request) : missing,
    );
  }

  startMoveTask(name: string, request: MoveTaskRequest): ReturnType<QueueService['startMoveTask']> {
    return this.#guarded(() => this.#tasks.start(name, request));
  }

  moveTasks(name: string): ReturnType<QueueService['moveTasks']> {
    return this.#guarded(() => this.#tasks.list(name));
  }

  cancelMoveTask(name: string, id: string): ReturnType<QueueService['cancelMoveTask']> {
    return this.#guarded(() => this.#tasks.cancel(name, id));
  }

  listQueues(request: Parameters<QueueService['listQueues']>[0]): ReturnType<QueueService['listQueues']> {
    return this.#guarded(() => listQueues(this.#context.environment.store, request));
  }

  deleteQueue(name: string): ReturnType<QueueService['deleteQueue']> {
    return this.#guarded(async () => {
      const outcome = await this.#submit(name, { kind: 'delete-queue' });
      return outcome.kind === 'queue-missing' ? missing : { kind: 'done' };
    });
  }

  purgeQueue(name: string): ReturnType<QueueService['purgeQueue']> {
    return this.#guarded(async () => {
      const cooldown = this.#context.settings.cooldowns ? cooldownMillis : 0;
      const outcome = await this.#submit(name, { kind: 'purge', cooldownMillis: cooldown });
      if (outcome.kind === 'queue-missing') return missing;
      return { kind: outcome.kind === 'purged-recently' ? 'in-progress' : 'done' };
    });
  }

  send(name: string, senderId: string, entries: readonly SendEntry[]): Promise<SendOutcome> {
    return this.#guarded(async () => {
      const messages = entries.map(({ content, contentBytes, delaySeconds, deduplication }) => {
        const messageId = messageIdFrom(this.#context.environment.random.bytes(16));
        const message: NewMessage = { messageId, senderId, content, contentBytes };
        return { message: deduplication ? { ...message, deduplication } : message, delaySeconds };
      });
      const bytes = entries.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
      const outcome = await this.#submit(name, { kind: 'send', entries: messages }, bytes);
      if (outcome.kind === 'queue-missing') return missing;
      const fifo = isFifoName(name);
      const results = expected(outcome, 'sent').entries;
      return {
        kind: 'done',
        entries: results.map((result, index) => sentOutcome(result, messages[index]!.message, fifo)),
      };
    });
  }

  receive(name: string, request: ReceiveRequest): Promise<ReceiveOutcome> {
    return this.#guarded(async () => {
      const { maxMessages, visibilityTimeoutSeconds, waitSeconds, signal, attemptId } = request;
      const attempt = attemptId === undefined ? undefined : attemptHashOf(attemptId);
      const since = this.#context.environment.clock.monotonicMillis();
      const outcome = await this.#onLoop(name, (loop) =>
        loop.receive({ maxMessages, visibilityTimeoutSeconds, attempt }, { waitSeconds, since, signal }),
      );
      if (outcome.kind === 'queue-missing') return missing;
      if (outcome.kind === 'over-limit') return { kind: 'over-limit' };
      const { messages } = expected(outcome, 'received');
      let released: Promise<void> | undefined;
      const undelivered = (): Promise<void> => {
        released ??= this.#release(
          name,
          messages.map(({ handle }) => handle),
        );
        return released;
      };
      if (signal.aborted) {
        await undelivered();
        return { kind: 'done', messages: [], undelivered };
      }
      const fifo = isFifoName(name);
      return { kind: 'done', messages: messages.map((leased) => received(leased, fifo)), undelivered };
    });
  }

  deleteMessages(
    name: string,
    receiptHandles: readonly string[],
  ): ReturnType<QueueService['deleteMessages']> {
    return this.#guarded(async () => {
      const decoded = receiptHandles.map(decodeReceiptHandle);
      const handles = decoded.filter((handle) => handle !== undefined);
      // Also with nothing to delete: a queue that is gone must be told.
      const outcome = await this.#submit(name, { kind: 'delete', handles });
      if (outcome.kind === 'queue-missing') return missing;
      return { kind: 'done', entries: deleteOutcomes(decoded, expected(outcome, 'done')) };
    });
  }

  changeVisibility(
    name: string,
    entries: readonly VisibilityEntry[],
  ): ReturnType<QueueService['changeVisibility']> {
    return this.#guarded(async () => {
      const decoded = entries.map(({ receiptHandle }) => decodeReceiptHandle(receiptHandle));
      const well = entries.flatMap(({ visibilityTimeoutSeconds }, index) => {
        const handle = decoded[index];
        return handle ? [{ handle, timeoutSeconds: visibilityTimeoutSeconds }] : [];
      });
      const outcome = await this.#submit(name, { kind: 'change-visibility', entries: well });
      if (outcome.kind === 'queue-missing') return missing;
      const results = expected(outcome, 'visibility').entries;
      return { kind: 'done', entries: visibilityOutcomes(decoded, results) };
    });
  }

  async #release(name: string, handles: readonly ReceiptHandle[]): Promise<void> {
    if (handles.length === 0) return;
    try {
      await this.#submit(name, { kind: 'release', handles });
    } catch (error) {
      // Given up: they come back when their visibility timeout ends.
      this.#context.environment.log.warn('undelivered messages were not given back', { queue: name, error });
    }
  }

  /**
   * RedrivePolicy must name an existing queue of this account that allows it, which may be the queue itself, as on AWS:
   * its messages then stay (batch-resources.ts). An empty one removes the policy.
   */
  async #redriveProblem(
    name: string,
    attributes: ReadonlyMap<string, string>,
  ): Promise<AttributeProblem | undefined> {
    const policyText = attributes.get('RedrivePolicy') ?? '';
    if (policyText === '') return undefined;
    const { redrivePolicy } = resolveAttributes(new Map([['RedrivePolicy', policyText]]));
    const target = redrivePolicy && queueNameOfArn(redrivePolicy.deadLetterTargetArn);
    const { accountId, region } = this.#context.settings;
    const ours = target?.accountId === accountId && target.region === region;
    const found = ours ? await this.#read(target.name) : undefined;
    if (!found) return deadLetterTargetMissing(policyText);
    const allowPolicy = found.state.attributes.get('RedriveAllowPolicy');
    if (allowsSource(allowPolicy, { accountId, region, name })) return undefined;
    return deadLetterTargetDenies(policyText);
  }

  async #read(name: string): Promise<ObservedQueue | undefined> {
    await this.#context.time.prime(this.#context.environment.store);
    return new ManifestRegister(this.#context.environment, name).readQueue();
  }

  #submit(name: string, command: Command, bytes = 0): Promise<CommandOutcome> {
    return this.#onLoop(name, (loop) => loop.submit(command, bytes));
  }

  async #onLoop(name: string, use: (loop: CommitLoop) => Promise<LoopOutcome>): Promise<CommandOutcome> {
    for (let tries = 0; tries < incarnationsMax; tries++) {
      const loop = await this.#registry.loopFor(name);
      if (!loop) return missing;
      const outcome = await use(loop);
      if (outcome.kind !== 'loop-ended') return outcome;
    }
    throw new Unavailable(`queue ${name} is being deleted and created again`);
  }

  async #guarded<T>(call: () => Promise<T>): Promise<T> {
    if (this.#stop.aborted) throw new Unavailable('this node is stopping');
    this.#finder.called();
    try {
      return await call();
    } catch (error) {
      if (error instanceof StoreError) throw new Unavailable(`the store does not answer: ${error.message}`);
      throw error;
    }
  }
}

function expected<K extends CommandOutcome['kind']>(
  outcome: CommandOutcome,
  kind: K,
): CommandOutcome & { readonly kind: K } {
  if (outcome.kind !== kind) throw new Error(`expected ${kind}, got ${outcome.kind}`);
  return outcome as CommandOutcome & { readonly kind: K };
}
