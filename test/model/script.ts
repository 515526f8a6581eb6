/**
 * Random schedules for one queue: batches of commands, the time that passes, what the world around does, and rival
 * batches that win the swap. Picks are plain numbers that the run reduces to what exists, so that any part of a
 * schedule can be left out when a failure shrinks.
 */
import fc from 'fast-check';

export type Draw =
  | {
      readonly kind: 'send';
      readonly entries: readonly { readonly size: number; readonly delay: number | undefined }[];
    }
  /** Small messages of one group. */
  | {
      readonly kind: 'send-group';
      readonly group: string | undefined;
      readonly count: number;
      readonly delay: number | undefined;
    }
  | { readonly kind: 'receive'; readonly max: number; readonly seconds: number | undefined }
  /** Picks count back from the latest handle given out. */
  | { readonly kind: 'delete'; readonly picks: readonly number[] }
  | { readonly kind: 'delete-foreign'; readonly pick: number }
  | { readonly kind: 'change-visibility'; readonly pick: number; readonly seconds: number }
  | { readonly kind: 'release'; readonly pick: number }
  | { readonly kind: 'purge' }
  | { readonly kind: 'tidy'; readonly back: number }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  /** Numbers begin `skip` after the next one that the link takes. */
  | {
      readonly kind: 'append';
      readonly source: number;
      readonly skip: number;
      readonly count: number;
      readonly size: number;
      readonly view: 'pending' | 'none' | 'gone';
    }
  | { readonly kind: 'resolve'; readonly target: number; readonly lead: number }
  | { readonly kind: 'return'; readonly target: number }
  /** The segments of the state at the draw, which rivals may change before it lands. */
  | { readonly kind: 'compact'; readonly picks: readonly number[] }
  | { readonly kind: 'forget'; readonly sources: readonly number[]; readonly targets: readonly number[] };

export interface Step {
  readonly advance: number;
  /** Another node's clock: added to now, for this step alone. */
  readonly clockOffset: number;
  readonly lag: number;
  /** What passes on that clock between an attempt that lost its swap and the next. */
  readonly swapMillis: number;
  readonly batch: readonly Draw[];
  readonly rivals: readonly (readonly Draw[])[];
  /** Raises collectedBelow to this many versions back. */
  readonly collectBack: number | undefined;
  readonly world: 'same' | 'target-deleted' | 'target-created';
  /** Which segment of the state can't be read. */
  readonly unreadable: number | undefined;
  readonly writer: number;
}

export const redrivePolicies = {
  none: '',
  once: '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}',
  twice: '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":2}',
} as const;

const size = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 20 }), weight: 10 },
  { arbitrary: fc.constantFrom(1_024, 1_025), weight: 1 },
  // Around what stays inline (with its overhead), and enough of them to fill the tail.
  { arbitrary: fc.integer({ min: 65_440, max: 65_480 }), weight: 2 },
  { arbitrary: fc.constantFrom(60_000, 200_000), weight: 2 },
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const kind = <const K extends string>(name: K) => fc.constant(name);
/** Mostly a recent handle: those are still of use. */
const pick = fc.oneof({ arbitrary: fc.nat(3), weight: 3 }, { arbitrary: fc.nat(40), weight: 1 });
const plain = { noNullPrototype: true } as const;

const setting = fc.oneof(
  fc.tuple(fc.constant('VisibilityTimeout'), fc.constantFrom('0', '1', '30')),
  fc.tuple(fc.constant('DelaySeconds'), fc.constantFrom('0', '5')),
  fc.tuple(fc.constant('MessageRetentionPeriod'), fc.constantFrom('60', '120', '345600')),
  fc.tuple(fc.constant('MaximumMessageSize'), fc.constantFrom('1024', '1048576')),
  fc.tuple(fc.constant('RedrivePolicy'), fc.constantFrom(...Object.values(redrivePolicies))),
);

const draw: fc.Arbitrary<Draw> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        kind: kind('send'),
        entries: fc.array(fc.record({ size, delay: optional(fc.constantFrom(0, 1, 5, 900)) }, plain), {
          minLength: 1,
          maxLength: 4,
        }),
      },
      plain,
    ),
  },
  {
    weight: 7,
    arbitrary: fc.record(
      {
        kind: kind('receive'),
        max: fc.integer({ min: 1, max: 10 }),
        seconds: optional(fc.constantFrom(0, 1, 30, 43_200)),
      },
      plain,
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      { kind: kind('delete'), picks: fc.array(pick, { minLength: 1, maxLength: 3 }) },
      plain,
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('delete-foreign'), pick }, plain) },
  {
    weight: 2,
    arbitrary: fc.record(
      { kind: kind('change-visibility'), pick, seconds: fc.constantFrom(0, 1, 30, 43_200) },
      plain,
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('release'), pick }, plain) },
  { weight: 1, arbitrary: fc.record({ kind: kind('purge') }, plain) },
  {
    weight: 3,
    arbitrary: fc.record(
      { kind: kind('compact'), picks: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }) },
      plain,
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('tidy'), back: fc.integer({ min: -1, max: 3 }) }, plain) },
  { weight: 2, arbitrary: setting.map(([name, value]) => ({ kind: 'set' as const, name, value })) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kind: kind('append'),
        source: fc.nat(1),
        skip: fc.integer({ min: -1, max: 1 }),
        count: fc.integer({ min: 1, max: 3 }),
        size,
        view: fc.constantFrom('pending' as const, 'pending' as const, 'none' as const, 'gone' as const),
      },
      plain,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { kind: kind('resolve'), target: fc.nat(3), lead: fc.integer({ min: -1, max: 1 }) },
      plain,
    ),
  },
  // Not the newest target, which may be there: what comes back may be given to it anew in the same transition.
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('return'), target: fc.integer({ min: 1, max: 3 }) }, plain),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        kind: kind('forget'),
        sources: fc.array(fc.nat(1), { maxLength: 2 }),
        // Not the newest, as with `return`.
        targets: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
      },
      plain,
    ),
  },
);

const groupDraw: fc.Arbitrary<Draw> = fc.record(
  {
    kind: kind('send-group'),
    group: fc.constantFrom('a', 'b', 'c', undefined),
    count: fc.constantFrom(1, 2, 5, 20, 80),
    delay: optional(fc.constantFrom(0, 0, 5)),
  },
  plain,
);

const stepOf = (batch: fc.Arbitrary<Draw[]>): fc.Arbitrary<Step> =>
  fc.record(
    {
      advance: fc.constantFrom(0, 1, 500, 1_000, 5_000, 30_000, 60_000, 3_600_000, 43_200_000, 345_600_000),
      clockOffset: fc.constantFrom(0, 0, 0, -900, 900),
      lag: fc.constantFrom(0, 0, 0, 700, 70_000),
      swapMillis: fc.constantFrom(0, 40, 3_000, -500),
      batch,
      rivals: fc.oneof(
        { arbitrary: fc.constant([]), weight: 4 },
        { arbitrary: fc.array(batch, { minLength: 1, maxLength: 2 }), weight: 1 },
      ),
      collectBack: optional(fc.nat(4)),
      world: fc.constantFrom(
        'same' as const,
        'same' as const,
        'same' as const,
        'target-deleted' as const,
        'target-created' as const,
      ),
      unreadable: fc.option(fc.nat(5), { nil: undefined, freq: 9 }),
      writer: fc.nat(2),
    },
    plain,
  );

/** `size: 'max'` keeps schedules long however fast-check is configured. */
export const scriptArbitrary: fc.Arbitrary<readonly Step[]> = fc.array(
  stepOf(fc.array(draw, { maxLength: 5 })),
  { maxLength: 40, size: 'max' },
);

/** The same with message groups. */
export const groupScriptArbitrary: fc.Arbitrary<readonly Step[]> = fc.array(
  stepOf(
    fc.array(fc.oneof({ arbitrary: draw, weight: 2 }, { arbitrary: groupDraw, weight: 1 }), { maxLength: 5 }),
  ),
  { maxLength: 40, size: 'max' },
);
