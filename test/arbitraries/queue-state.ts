/**
 * Arbitrary valid queue states for property tests: they satisfy core/invariants.ts `brokenState`. Small numbers of
 * messages, but every place a message or its body can be in, times beyond 32 bits, and texts of any code point.
 */
import fc from 'fast-check';
import {
  type AttemptHash,
  type DeduplicationKey,
  type DeliveryToken,
  deliveryTokenFrom,
  type GroupHash,
  hexFromBytes,
  type Incarnation,
  incarnationFrom,
  messageIdFrom,
  writerIdFrom,
} from '../../src/core/ids.ts';
import { MESSAGE_OVERHEAD_BYTES } from '../../src/core/limits.ts';
import type { MessageAttributeValue, StoredMessage } from '../../src/core/message.ts';
import { groupHashOf, groupOf } from '../../src/core/message-groups.ts';
import { orderingBytesOf } from '../../src/core/message-size.ts';
import { type MoveTask, type MoveTaskStatus, taskUnderWay } from '../../src/core/move-task.ts';
import {
  type DeduplicationEntry,
  type Delivery,
  type Fairness,
  type GroupRate,
  type Intent,
  noFairness,
  type QueueState,
  type Run,
  type SegmentId,
  type SegmentReference,
  segmentIdOf,
  type TailMessage,
} from '../../src/core/queue-state.ts';
import { addAll, emptyRanges } from '../../src/core/range-set.ts';

const plain = { noNullPrototype: true } as const;
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** Any text but lone surrogates, which are refused before they get here; some begin with a byte order mark. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string().map((rest) => `\ufeff${rest}`),
);
const count = fc.oneof(fc.nat(200), fc.maxSafeNat());

export const incarnationArbitrary: fc.Arbitrary<Incarnation> = bytes(16).map(incarnationFrom);
export const tokenArbitrary: fc.Arbitrary<DeliveryToken> = bytes(8).map(deliveryTokenFrom);
export const millisArbitrary = fc.oneof(
  fc.nat(1000),
  fc.integer({ min: 1_600_000_000_000, max: 2_500_000_000_000 }),
);

const attributeValue: fc.Arbitrary<MessageAttributeValue> = fc.oneof(
  fc.record(
    { kind: fc.constant('text' as const), dataType: fc.constantFrom('String', 'Number.int'), text },
    plain,
  ),
  fc.record(
    { kind: fc.constant('binary' as const), dataType: fc.constant('Binary'), bytes: fc.uint8Array() },
    plain,
  ),
);

export const messageArbitrary: fc.Arbitrary<StoredMessage> = fc.record(
  {
    messageId: bytes(16).map(messageIdFrom),
    body: text,
    attributes: fc.array(fc.tuple(text, attributeValue), { maxLength: 4 }).map((entries) => new Map(entries)),
    traceHeader: fc.option(text, { nil: undefined }),
    groupId: fc.option(text, { nil: undefined }),
    senderId: fc.constantFrom('', 'AKIDEXAMPLE', '000000000000'),
    sentAtMillis: millisArbitrary,
    deadLetterSourceArn: fc.option(fc.constant('arn:aws:sqs:us-east-1:000000000000:source'), {
      nil: undefined,
    }),
  },
  plain,
);

/** On a FIFO queue: some were moved there. */
const fifoMessageArbitrary: fc.Arbitrary<StoredMessage> = fc
  .tuple(
    messageArbitrary,
    fc.string({ minLength: 1 }),
    fc.constantFrom('a', 'b', 'a longer one'),
    fc.option(
      millisArbitrary.map((millis) => millis + 1),
      { nil: undefined },
    ),
  )
  .map(([message, deduplicationId, groupId, movedAtMillis]) => ({
    ...message,
    groupId,
    deduplicationId,
    ...(movedAtMillis !== undefined && { movedAtMillis }),
  }));

/** As core/send.ts counts. */
export function tailMessageOf(message: StoredMessage): TailMessage {
  const size = (value: string) => new TextEncoder().encode(value).length;
  let total =
    size(message.body) + message.senderId.length + MESSAGE_OVERHEAD_BYTES + orderingBytesOf(message);
  for (const [name, value] of message.attributes)
    total +=
      size(name) + size(value.dataType) + (value.kind === 'text' ? size(value.text) : value.bytes.length);
  return { message, bytes: total };
}

const delivery: fc.Arbitrary<Delivery> = fc.record(
  {
    visibleAtMillis: millisArbitrary,
    receiveCount: fc.nat(1000),
    firstReceivedAtMillis: millisArbitrary,
    leasedAtMillis: millisArbitrary,
    token: tokenArbitrary,
    leaseVersion: count,
    receivedElsewhere: fc.integer({ min: 1, max: 1000 }),
    turn: fc.integer({ min: 1, max: 1000 }),
    attempt: fc.record(
      {
        id: bytes(8).map((id) => hexFromBytes(id) as AttemptHash),
        messages: fc.nat(10),
        repeated: fc.boolean(),
      },
      plain,
    ),
  },
  {
    ...plain,
    requiredKeys: [
      'visibleAtMillis',
      'receiveCount',
      'firstReceivedAtMillis',
      'leasedAtMillis',
      'token',
      'leaseVersion',
    ],
  },
) as fc.Arbitrary<Delivery>;

const intent: fc.Arbitrary<Intent> = fc.record(
  {
    targetIncarnation: incarnationArbitrary,
    number: count,
    receiveCount: fc.nat(1000),
    firstReceivedAtMillis: millisArbitrary,
    receivedElsewhere: fc.integer({ min: 1, max: 1000 }),
  },
  {
    ...plain,
    requiredKeys: ['targetIncarnation', 'number', 'receiveCount', 'firstReceivedAtMillis'],
  },
) as fc.Arbitrary<Intent>;

const links = fc
  .array(
    fc.tuple(
      incarnationArbitrary,
      fc.record({ queueName: fc.constantFrom('a', 'b.fifo'), lastNumber: count }, plain),
    ),
    {
      maxLength: 3,
    },
  )
  .map((entries) => new Map(entries));

/** One live message: how far after the one before, where it is, and where its body is. */
interface Live {
  readonly gap: number;
  readonly place:
    | { readonly kind: 'ready' }
    | { readonly kind: 'delayed'; readonly dueAtMillis: number }
    | { readonly kind: 'delivery'; readonly delivery: Delivery }
    | { readonly kind: 'intent'; readonly intent: Intent };
  readonly body:
    | { readonly kind: 'tail'; readonly message: StoredMessage; readonly fifoMessage: StoredMessage }
    | { readonly kind: 'segment'; readonly index: number };
}

const segmentsMax = 3;

const live: fc.Arbitrary<Live> = fc.record({
  gap: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 2 ** 40 })),
  place: fc.oneof(
    fc.record({ kind: fc.constant('ready' as const) }),
    fc.record({ kind: fc.constant('delayed' as const), dueAtMillis: millisArbitrary }),
    fc.record({ kind: fc.constant('delivery' as const), delivery }),
    fc.record({ kind: fc.constant('intent' as const), intent }),
  ),
  body: fc.oneof(
    fc.record({
      kind: fc.constant('tail' as const),
      message: messageArbitrary,
      fifoMessage: fifoMessageArbitrary,
    }),
    fc.record({ kind: fc.constant('segment' as const), index: fc.nat(segmentsMax - 1) }),
  ),
});

const segmentShape = fc.record({
  nonce: bytes(8).map((b) => deliveryTokenFrom(b) as string),
  bytes: count,
  sentAtMaxMillis: millisArbitrary,
  shift: fc.nat(3),
  compacted: fc.boolean(),
});

const writer = fc.record(
  { id: bytes(16).map(writerIdFrom), attempt: count, version: count, roundMillis: fc.nat(5_000) },
  plain,
);

const namedTexts = fc
  .array(fc.tuple(fc.constantFrom('VisibilityTimeout', 'DelaySeconds', 'Policy', 'RedrivePolicy'), text))
  .map((entries) => new Map(entries));

const rate = fc.record({ count: fc.integer({ min: 1, max: 2 ** 31 - 1 }), peak: fc.nat(2 ** 31 - 1) }, plain);

const deduplicationKey = bytes(16).map((random) => hexFromBytes(random) as DeduplicationKey);
const deduplicationEntry = fc.record(
  { messageId: bytes(16).map(messageIdFrom), acceptedAtMillis: millisArbitrary },
  plain,
);

const moveTask = (status: fc.Arbitrary<MoveTaskStatus>): fc.Arbitrary<MoveTask> =>
  fc.record(
    {
      id: bytes(16).map(messageIdFrom),
      status,
      destinationArn: fc.constantFrom('arn:aws:sqs:us-east-1:000000000000:destination', ''),
      messagesPerSecond: fc.integer({ min: 1, max: 500 }),
      startedAtMillis: millisArbitrary,
      moved: count,
      toMove: count,
      through: fc.constant(1),
      failureReason: fc.constantFrom('', 'AWS.SimpleQueueService.NonExistentQueue'),
      pacedUntilMillis: millisArbitrary,
      runner: bytes(16).map(writerIdFrom),
    },
    {
      ...plain,
      requiredKeys: [
        'id',
        'status',
        'startedAtMillis',
        'moved',
        'toMove',
        'through',
        'pacedUntilMillis',
        'runner',
      ],
    },
  ) as fc.Arbitrary<MoveTask>;

/** The last may be under way. */
const moveTasks = fc
  .tuple(
    fc.array(moveTask(fc.constantFrom('completed', 'cancelled', 'failed')), { maxLength: 3 }),
    fc.option(moveTask(fc.constantFrom('running', 'cancelling')), { nil: undefined }),
  )
  .map(([ended, underWay]) => (underWay ? [...ended, underWay] : ended));

export const queueStateArbitrary: fc.Arbitrary<QueueState> = fc
  .record({
    fifo: fc.boolean(),
    deduplication: fc.uniqueArray(fc.tuple(deduplicationKey, deduplicationEntry), {
      maxLength: 8,
      selector: ([key]) => key,
    }),
    incarnation: incarnationArbitrary,
    version: fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.maxSafeNat().map((n) => Math.max(1, n)),
    ),
    times: fc.tuple(millisArbitrary, millisArbitrary, millisArbitrary, millisArbitrary),
    attributes: namedTexts,
    tags: namedTexts,
    writers: fc.array(writer, { maxLength: 4 }),
    writersFloor: count,
    lives: fc.array(live, { maxLength: 25 }),
    segments: fc.array(segmentShape, { minLength: segmentsMax, maxLength: segmentsMax }),
    spare: fc.nat(5),
    purged: fc.boolean(),
    outgoingLinks: links,
    incomingLinks: links,
    moveTasks,
    rates: fc.uniqueArray(
      fc.tuple(
        bytes(8).map((random) => hexFromBytes(random) as GroupHash),
        rate,
      ),
      {
        maxLength: 5,
        selector: ([group]) => group,
      },
    ),
    busy: fc.boolean(),
    minute: count,
  })
  .map((shape): QueueState => {
    const placed = place(shape.lives, shape.fifo);
    if (taskUnderWay(shape.moveTasks))
      for (const [sequence, intent] of placed.intents)
        if (sequence % 2 === 1) placed.intents.set(sequence, { ...intent, redriven: true });
    const visible = [...placed.ready, ...placed.delayed.keys(), ...placed.deliveries.keys()];
    const nextSequence = placed.last + 1 + shape.spare;
    const [timeMillis, createdAtMillis, modifiedAtMillis, purgedAtMillis] = shape.times;
    return {
      incarnation: shape.incarnation,
      version: shape.version,
      timeMillis,
      createdAtMillis,
      modifiedAtMillis,
      attributes: shape.fifo ? new Map([...shape.attributes, ['FifoQueue', 'true']]) : shape.attributes,
      tags: shape.tags,
      writers: shape.writers,
      writersFloor: shape.writersFloor,
      nextSequence,
      purgeWatermark: shape.purged ? Math.min(nextSequence, ...visible) : 0,
      purgedAtMillis,
      collectedBelow: Math.floor(shape.version / 2),
      ready: addAll(emptyRanges, placed.ready),
      delayed: placed.delayed,
      delayedPages: new Map(),
      readyPages: new Map(),
      segmentsPages: new Map(),
      leasePages: new Map(),
      deliveries: placed.deliveries,
      tail: placed.tail,
      segments: segmentsOf(placed.inSegments, shape.segments),
      intents: placed.intents,
      deduplication: shape.fifo ? deduplicationOf(shape.deduplication, nextSequence) : new Map(),
      deduplicationPages: new Map(),
      outgoingLinks: linksFor(placed.intents, shape.outgoingLinks),
      incomingLinks: shape.incomingLinks,
      fairness: shape.fifo ? noFairness : fairnessOf(shape, placed, nextSequence),
      moveTasks: shape.moveTasks,
      unknownFields: [],
    };
  });

/** Every other of what waits is quiet. */
function fairnessOf(
  { rates, busy, minute }: { rates: [GroupHash, GroupRate][]; busy: boolean; minute: number },
  { ready, delayed }: Pick<ReturnType<typeof place>, 'ready' | 'delayed'>,
  nextSequence: number,
): Fairness {
  if (rates.length === 0) return noFairness;
  const waiting = [...ready, ...delayed.keys()].filter((_, place) => place % 2 === 0);
  return {
    rates: new Map(rates.map(([group, { count, peak }]) => [group, { count, peak: busy ? peak : 0 }])),
    minute,
    quiet: busy ? addAll(emptyRanges, waiting) : emptyRanges,
    busyBelow: busy ? nextSequence : 0,
    quietInARow: rates.length % 4,
  };
}

/** No intent has a number that its link never gave. */
function linksFor(
  intents: ReadonlyMap<number, Intent>,
  drawn: QueueState['outgoingLinks'],
): QueueState['outgoingLinks'] {
  const covering = new Map(drawn);
  for (const { targetIncarnation, number } of intents.values()) {
    const link = covering.get(targetIncarnation) ?? { queueName: 'target', lastNumber: 0 };
    covering.set(targetIncarnation, { ...link, lastNumber: Math.max(link.lastNumber, number) });
  }
  return covering;
}

/** Of messages that may be gone: each has its number. */
function deduplicationOf(
  drawn: readonly (readonly [DeduplicationKey, Omit<DeduplicationEntry, 'sequence'>])[],
  nextSequence: number,
): QueueState['deduplication'] {
  const entries = drawn.map(([key, entry], i) => [key, { ...entry, sequence: i + 1 }] as const);
  return new Map(entries.filter(([, { sequence }]) => sequence < nextSequence));
}

function place(lives: readonly Live[], fifo: boolean) {
  const ready: number[] = [];
  const delayed = new Map<number, number>();
  const deliveries = new Map<number, Delivery>();
  const intents = new Map<number, Intent>();
  const tail = new Map<number, TailMessage>();
  const inSegments = Array.from({ length: segmentsMax }, (): number[] => []);
  let last = 0;
  for (const { gap, place: where, body } of lives) {
    last += gap;
    const hash = body.kind === 'tail' ? groupOf(body.fifoMessage) : groupHashOf(`${last % 3}`);
    const group = fifo ? { group: hash } : {};
    if (where.kind === 'ready') ready.push(last);
    else if (where.kind === 'delayed') delayed.set(last, where.dueAtMillis);
    else if (where.kind === 'delivery') deliveries.set(last, { ...where.delivery, ...group });
    else intents.set(last, { ...where.intent, ...group });
    if (body.kind === 'tail') tail.set(last, tailMessageOf(fifo ? body.fifoMessage : body.message));
    else inSegments[body.index]!.push(last);
  }
  return { ready, delayed, deliveries, intents, tail, inSegments, last };
}

function segmentsOf(
  inSegments: readonly (readonly number[])[],
  shapes: readonly {
    readonly nonce: string;
    readonly bytes: number;
    readonly sentAtMaxMillis: number;
    readonly shift: number;
    readonly compacted: boolean;
  }[],
): ReadonlyMap<SegmentId, SegmentReference> {
  const segments = new Map<SegmentId, SegmentReference>();
  inSegments.forEach((sequences, index) => {
    if (sequences.length === 0) return;
    const { nonce, bytes: objectBytes, sentAtMaxMillis, shift, compacted } = shapes[index]!;
    const runs: Run[] = sequences.map((firstSequence, ordinal) => ({
      firstSequence,
      firstOrdinal: ordinal,
      count: 1,
      sentAtShiftMillis: shift,
    }));
    const reference = {
      baseVersion: index,
      nonce,
      liveCount: runs.length,
      sentAtMaxMillis,
      bytes: objectBytes,
      runs,
      ...(compacted ? { bodyCount: runs.length } : {}),
    };
    segments.set(segmentIdOf(reference), reference);
  });
  return segments;
}
