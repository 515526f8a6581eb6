/** Random schedules for one FIFO queue: batches of commands, the time that passes, and rivals that win the swap. */
import fc from 'fast-check';

export type Draw =
  | {
      readonly kind: 'send';
      readonly entries: readonly {
        readonly group: number;
        readonly body: number;
        /** Undefined: by content. */
        readonly id: number | undefined;
        readonly padding: number;
      }[];
    }
  | {
      readonly kind: 'receive';
      readonly max: number;
      readonly seconds: number | undefined;
      readonly attempt: number | undefined;
    }
  /** Picks count back from the latest handle given out. */
  | { readonly kind: 'delete'; readonly picks: readonly number[] }
  | { readonly kind: 'change-visibility'; readonly pick: number; readonly seconds: number }
  | { readonly kind: 'release'; readonly pick: number }
  | { readonly kind: 'purge' }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | { readonly kind: 'append'; readonly count: number; readonly group: number; readonly skip: number }
  | { readonly kind: 'resolve'; readonly lead: number }
  | { readonly kind: 'compact'; readonly picks: readonly number[] };

export interface Step {
  readonly advance: number;
  /** Another node's clock, for this step alone. */
  readonly clockOffset: number;
  readonly batch: readonly Draw[];
  readonly rivals: readonly (readonly Draw[])[];
  readonly collect: boolean;
  /** `gone`: the dead-letter queue was deleted, and what was on its way comes back. */
  readonly target: 'there' | 'gone' | 'missing';
}

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const plain = { noNullPrototype: true } as const;
const kind = <const K extends string>(name: K) => fc.constant(name);
const pick = fc.oneof({ arbitrary: fc.nat(4), weight: 3 }, { arbitrary: fc.nat(40), weight: 1 });
const group = fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, { arbitrary: fc.nat(4), weight: 3 });

const setting = fc.oneof(
  fc.tuple(fc.constant('DelaySeconds'), fc.constantFrom('0', '0', '1', '60')),
  fc.tuple(fc.constant('RedrivePolicy'), fc.constantFrom('', '1', '2')),
  fc.tuple(fc.constant('ContentBasedDeduplication'), fc.constantFrom('true', 'false')),
  fc.tuple(fc.constant('DeduplicationScope'), fc.constantFrom('queue', 'messageGroup')),
);

const entry = fc.record(
  { group, body: fc.nat(3), id: optional(fc.nat(30)), padding: fc.constantFrom(0, 0, 0, 300) },
  plain,
);

const draws: Readonly<Record<Draw['kind'], readonly [weight: number, fc.Arbitrary<Draw>]>> = {
  send: [
    7,
    fc.record({ kind: kind('send'), entries: fc.array(entry, { minLength: 1, maxLength: 5 }) }, plain),
  ],
  receive: [
    8,
    fc.record(
      {
        kind: kind('receive'),
        max: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 10 })),
        seconds: optional(fc.constantFrom(0, 1, 30)),
        attempt: optional(fc.nat(1)),
      },
      plain,
    ),
  ],
  delete: [
    4,
    fc.record({ kind: kind('delete'), picks: fc.array(pick, { minLength: 1, maxLength: 3 }) }, plain),
  ],
  'change-visibility': [
    3,
    fc.record({ kind: kind('change-visibility'), pick, seconds: fc.constantFrom(0, 1, 43_200) }, plain),
  ],
  release: [2, fc.record({ kind: kind('release'), pick }, plain)],
  purge: [1, fc.record({ kind: kind('purge') }, plain)],
  set: [2, setting.map(([name, value]) => ({ kind: 'set' as const, name, value }))],
  append: [
    2,
    fc.record(
      {
        kind: kind('append'),
        count: fc.integer({ min: 1, max: 2 }),
        group,
        skip: fc.constantFrom(0, 0, -1, 1),
      },
      plain,
    ),
  ],
  resolve: [2, fc.record({ kind: kind('resolve'), lead: fc.integer({ min: -1, max: 1 }) }, plain)],
  compact: [
    3,
    fc.record({ kind: kind('compact'), picks: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }) }, plain),
  ],
};

const draw = fc.oneof(...Object.values(draws).map(([weight, arbitrary]) => ({ weight, arbitrary })));
const batch = fc.array(draw, { maxLength: 5 });

const step: fc.Arbitrary<Step> = fc.record(
  {
    advance: fc.constantFrom(0, 1, 500, 1_000, 5_000, 30_000, 60_000, 300_000),
    clockOffset: fc.constantFrom(0, 0, 0, -900, 900),
    batch,
    rivals: fc.oneof(
      { arbitrary: fc.constant([]), weight: 3 },
      { arbitrary: fc.array(batch, { minLength: 1, maxLength: 2 }), weight: 1 },
    ),
    collect: fc.boolean(),
    target: fc.oneof(
      { arbitrary: fc.constant('there' as const), weight: 6 },
      { arbitrary: fc.constantFrom('gone' as const, 'missing' as const), weight: 1 },
    ),
  },
  plain,
);

/** `size: 'max'` keeps schedules long however fast-check is configured. */
export const scriptArbitrary: fc.Arbitrary<readonly Step[]> = fc.array(step, { maxLength: 40, size: 'max' });
