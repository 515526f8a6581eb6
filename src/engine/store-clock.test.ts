import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { advanceManifestTime, unconfirmedAdvanceMillisMax } from '../core/time.ts';
import { confirmationMillis, StoreClock, type StoreTimeObservation } from './store-clock.ts';

/** The store's time when the local monotonic clock shows 0. */
const origin = 1_800_000_000_000;
const day = 86_400_000;
const hour = 3_600_000;

/** A response of a store that is right (or `lie` off), with whole seconds as S3 tells them. */
function response(at: {
  readonly sent: number;
  readonly flight?: number;
  readonly lie?: number;
  readonly resolution?: number;
}): StoreTimeObservation {
  const { sent, flight = 20, lie = 0, resolution = 1000 } = at;
  const storeMillis = origin + lie + sent + flight / 2;
  return {
    sentMonotonic: sent,
    receivedMonotonic: sent + flight,
    sentWall: origin + sent,
    receivedWall: origin + sent + flight,
    time: { millis: Math.floor(storeMillis / resolution) * resolution, resolutionMillis: resolution },
  };
}

function reading(clock: StoreClock, monotonic: number, wall = origin + monotonic) {
  const read = clock.read(monotonic, wall);
  assert.ok(read !== undefined);
  return read;
}

describe('store clock', () => {
  it('knows nothing before the first response', () => {
    assert.equal(new StoreClock().read(5, origin), undefined);
  });

  it('bounds the true time from one response by resolution and flight', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 1300, flight: 40 }));
    const read = reading(clock, 1340);
    assert.equal(read.lowerMillis, origin + 1000);
    // A slow clock has seen less of the 40 ms than there was.
    assert.equal(read.upperMillis, origin + 2041);
    assert.equal(read.nowMillis, origin + 1340);
    assert.equal(read.confirmed, false);
  });

  it('narrows whole seconds by many responses to about the flight', () => {
    const clock = new StoreClock();
    for (let i = 0; i < 100; i += 1) clock.observe(response({ sent: i * 137, flight: 30 }));
    const read = reading(clock, 13_700);
    assert.ok(read.lowerMillis <= origin + 13_700 && read.upperMillis >= origin + 13_700);
    assert.ok(read.upperMillis - read.lowerMillis < 100, `${read.upperMillis - read.lowerMillis} ms wide`);
  });

  it('is confirmed by a response a minute after the first one, not before', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 0 }));
    clock.observe(response({ sent: confirmationMillis - 1 }));
    assert.equal(reading(clock, confirmationMillis).confirmed, false);
    clock.observe(response({ sent: confirmationMillis + 20 }));
    assert.equal(reading(clock, confirmationMillis + 40).confirmed, true);
  });

  it('never confirms one response that is a day ahead, and manifest time moves by elapsed + 5 s at most', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 0 }));
    clock.observe(response({ sent: 61_000 }));
    assert.equal(reading(clock, 61_020).confirmed, true);
    const anchorMillis = reading(clock, 61_020).lowerMillis;
    let manifestMillis = anchorMillis;
    clock.observe(response({ sent: 62_000, lie: day }));
    for (let sent = 62_100; sent < 200_000; sent += 1000) {
      const { lowerMillis, confirmed } = reading(clock, sent);
      const elapsedSinceAnchorMillis = sent - 61_020;
      const next = advanceManifestTime({
        manifestMillis,
        lowerMillis,
        confirmed,
        anchorMillis,
        elapsedSinceAnchorMillis,
      });
      assert.ok(next >= manifestMillis);
      assert.ok(next <= anchorMillis + elapsedSinceAnchorMillis + unconfirmedAdvanceMillisMax);
      manifestMillis = next;
      clock.observe(response({ sent }));
    }
    const settled = reading(clock, 200_000);
    assert.equal(settled.confirmed, true);
    assert.ok(settled.upperMillis < origin + 200_000 + 2000);
  });

  it('a first response a day ahead is replaced by the next one that is right', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 0, lie: day }));
    clock.observe(response({ sent: 1000 }));
    const read = reading(clock, 1020);
    assert.equal(read.confirmed, false);
    assert.ok(read.lowerMillis <= origin + 1020);
    clock.observe(response({ sent: 60_000 }));
    assert.equal(reading(clock, 60_020).confirmed, false, 'not yet a minute since the bounds were replaced');
  });

  it('accepts what the store tells consistently for a minute', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 0 }));
    for (let sent = 1000; sent <= 62_000; sent += 1000) clock.observe(response({ sent, lie: day }));
    const read = reading(clock, 62_020);
    assert.equal(read.confirmed, true);
    assert.ok(read.lowerMillis > origin + 62_020 + day - 1100);
    assert.equal(read.wallIsOff, true);
  });

  it('keeps the upper bound of what was displaced until the new bounds are confirmed', () => {
    // A response a day behind must not stamp a message as a day old, which would shorten its life.
    const clock = new StoreClock();
    clock.observe(response({ sent: 0 }));
    clock.observe(response({ sent: 1000, lie: -day }));
    assert.ok(reading(clock, 1020).upperMillis >= origin + 1020);
    for (let sent = 2000; sent <= 62_000; sent += 1000) clock.observe(response({ sent, lie: -day }));
    assert.ok(reading(clock, 62_020).upperMillis < origin + 64_000 - day);
  });

  it('covers a sleep of the machine: upper follows the wall clock, lower the monotonic one', () => {
    const clock = new StoreClock();
    clock.observe(response({ sent: 0, resolution: 1 }));
    const read = reading(clock, 1000, origin + 8 * hour);
    assert.ok(read.upperMillis >= origin + 8 * hour);
    assert.ok(read.lowerMillis <= origin + 1000);
    assert.equal(read.wallIsOff, false, 'a sleep is no fault of the wall clock');
  });

  it('covers a sleep during the flight', () => {
    const clock = new StoreClock();
    const seen = response({ sent: 0, resolution: 1 });
    clock.observe({ ...seen, receivedWall: seen.receivedWall + hour });
    const read = reading(clock, 20, origin + 20 + hour);
    assert.ok(read.upperMillis >= origin + 20 + hour);
  });

  it('covers a sleep shorter than the resolution between two responses', () => {
    const clock = new StoreClock();
    // True times 0.9 s and, after a sleep of 0.6 s that the monotonic clock did not see, 1.6 s.
    const at = (monotonic: number, millis: number, second: number) => ({
      sentMonotonic: monotonic,
      receivedMonotonic: monotonic,
      sentWall: origin + millis,
      receivedWall: origin + millis,
      time: { millis: origin + second, resolutionMillis: 1000 },
    });
    clock.observe(at(0, 900, 0));
    clock.observe(at(100, 1600, 1000));
    assert.ok(reading(clock, 100, origin + 1600).upperMillis >= origin + 1600);
    // A bound cut at the old one's upper edge would end at 1.1 s.
  });

  /** What a machine sees whose monotonic clock stood still for `slept` before the request. */
  function woken(
    at: { readonly sent: number; readonly lie?: number },
    slept: number,
    wallSkew = 0,
  ): StoreTimeObservation {
    const seen = response({ ...at, lie: (at.lie ?? 0) + slept });
    return {
      ...seen,
      sentWall: seen.sentWall + slept + wallSkew,
      receivedWall: seen.receivedWall + slept + wallSkew,
    };
  }

  it('a wall clock that is behind is found out by the first response after a sleep', () => {
    const clock = new StoreClock();
    const behind = -80_000;
    for (let sent = 0; sent <= 61_000; sent += 1000) clock.observe(woken({ sent }, 0, behind));
    assert.equal(reading(clock, 61_020, origin + 61_020 + behind).confirmed, true);
    clock.observe(woken({ sent: 62_000 }, hour, behind));
    const read = reading(clock, 62_020, origin + hour + 62_020 + behind);
    assert.equal(read.wallIsOff, true);
    assert.ok(
      read.nowMillis > origin + hour + 60_000,
      `${origin + hour + 62_020 - read.nowMillis} ms behind`,
    );
    assert.equal(read.confirmed, false, 'a wall clock that was set would look like this');
  });

  for (const [how, lie] of [
    ['within what it slept', -hour],
    ['by more than it slept', -2 * hour],
  ] as const)
    it(`one response after a sleep that lies ${how} stamps nothing too early`, () => {
      const clock = new StoreClock();
      for (let sent = 0; sent <= 61_000; sent += 1000) clock.observe(response({ sent }));
      clock.observe(woken({ sent: 62_000, lie }, hour));
      assert.ok(reading(clock, 62_020, origin + hour + 62_020).upperMillis >= origin + hour + 62_020);
    });

  it('bounds the true time of a machine that sleeps, whatever the rates of its clocks', () => {
    const seen = fc.record({
      gap: fc.integer({ min: 0, max: 100_000 }),
      slept: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 * hour })),
      sleptInFlight: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: hour })),
      resolution: fc.constantFrom(1, 1000),
    });
    const rate = fc.integer({ min: -400, max: 400 });
    fc.assert(
      fc.property(
        fc.array(seen, { minLength: 1, maxLength: 20 }),
        rate,
        rate,
        fc.integer({ min: -hour, max: hour }),
        (flights, ppm, wallPpm, skew) => {
          const clock = new StoreClock();
          let now = 0;
          let awake = 0;
          const monotonic = () => awake * (1 + ppm * 1e-6);
          const wall = () => origin + skew + now * (1 + wallPpm * 1e-6);
          const check = () => {
            const read = clock.read(monotonic(), wall())!;
            assert.ok(read.lowerMillis <= origin + now, `lower ${read.lowerMillis - origin - now}`);
            assert.ok(read.upperMillis >= origin + now, `upper ${read.upperMillis - origin - now}`);
          };
          for (const { gap, slept, sleptInFlight, resolution } of flights) {
            now += gap + slept;
            awake += gap;
            const [sentMonotonic, sentWall] = [monotonic(), wall()];
            const millis = origin + Math.floor(now / resolution) * resolution;
            now += 20 + sleptInFlight;
            awake += 20;
            clock.observe({
              sentMonotonic,
              sentWall,
              receivedMonotonic: monotonic(),
              receivedWall: wall(),
              time: { millis, resolutionMillis: resolution },
            });
            check();
          }
          now += 10 * hour;
          check();
        },
      ),
    );
  });

  it('a step of the wall clock behind a local store suspends confirmation', () => {
    // The file store tells the wall clock itself: it must not vouch for its own step.
    const clock = new StoreClock();
    for (let sent = 0; sent <= 61_000; sent += 1000)
      clock.observe(response({ sent, resolution: 1, flight: 1 }));
    assert.equal(reading(clock, 61_001).confirmed, true);
    const stepped = response({ sent: 62_000, resolution: 1, flight: 1, lie: day });
    clock.observe({ ...stepped, sentWall: stepped.sentWall + day, receivedWall: stepped.receivedWall + day });
    assert.equal(reading(clock, 62_001, origin + day + 62_001).confirmed, false);
  });

  it('tells a wall clock that is ahead or behind, and clamps it', () => {
    const clock = new StoreClock();
    clock.observe({
      ...response({ sent: 0, resolution: 1 }),
      sentWall: origin + hour,
      receivedWall: origin + hour + 20,
    });
    const ahead = reading(clock, 20, origin + hour + 20);
    assert.equal(ahead.wallIsOff, true);
    assert.ok(Math.abs(ahead.wallSkewMillis - hour) < 100);
    assert.equal(ahead.nowMillis, ahead.upperMillis);
    const behind = reading(clock, 20, origin - hour);
    assert.equal(behind.wallIsOff, true);
    assert.ok(Math.abs(behind.wallSkewMillis + hour) < 100);
    assert.equal(behind.nowMillis, behind.lowerMillis);
    const slightly = reading(clock, 20, origin - 500);
    assert.equal(slightly.wallIsOff, false);
  });

  it('bounds the true time whatever the rate of the local clock, the flights and their order', () => {
    const seen = fc.record({
      gap: fc.integer({ min: 0, max: 200_000 }),
      before: fc.integer({ min: 0, max: 3000 }),
      after: fc.integer({ min: 0, max: 3000 }),
      resolution: fc.constantFrom(1, 1000),
    });
    fc.assert(
      fc.property(
        fc.array(seen, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: -400, max: 400 }),
        fc.integer({ min: 0, max: 10 * hour }),
        fc.boolean(),
        (flights, ppm, later, swapped) => {
          const monotonicOf = (trueMillis: number) => trueMillis * (1 + ppm * 1e-6);
          let now = 0;
          const observations = flights.map(({ gap, before, after, resolution }) => {
            now += gap;
            const spoken = now + before;
            const received = spoken + after;
            return {
              sentMonotonic: monotonicOf(now),
              receivedMonotonic: monotonicOf(received),
              sentWall: 0,
              receivedWall: 0,
              time: {
                millis: origin + Math.floor(spoken / resolution) * resolution,
                resolutionMillis: resolution,
              },
            };
          });
          if (swapped && observations.length > 1) observations.unshift(observations.pop()!);
          const clock = new StoreClock();
          for (const observation of observations) clock.observe(observation);
          const end = now + 6000 + later;
          const read = clock.read(monotonicOf(end), 0)!;
          assert.ok(read.lowerMillis <= origin + end, `lower ${read.lowerMillis - origin - end}`);
          assert.ok(read.upperMillis >= origin + end, `upper ${read.upperMillis - origin - end}`);
          assert.ok(read.nowMillis >= read.lowerMillis && read.nowMillis <= read.upperMillis);
        },
      ),
    );
  });
});
