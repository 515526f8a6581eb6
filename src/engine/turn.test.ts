/** Who asks for a turn, who looks, and how often (turn.ts). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ScriptedStore } from '../../test/support/scripted-store.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { scenario } from '../../test/support/world.ts';
import { type Incarnation, writerIdFrom } from '../core/ids.ts';
import { objectsPrefix, parseObjectKey, turnKey } from '../format/object-keys.ts';
import { encodeTurn } from '../format/turn-codec.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { Turn } from './turn.ts';

const queue = { name: 'q', incarnation: '00112233445566778899aabbccddeeff' as Incarnation };
const key = turnKey(queue);
const far = { id: writerIdFrom(new Uint8Array(16).fill(7)), attempt: 3, version: 12, roundMillis: 180 };

function stage() {
  const clock = new VirtualClock();
  const bucket = new MemoryStore({ nowMillis: () => clock.wallMillis() });
  const store = new ScriptedStore(bucket, clock);
  return { clock, bucket, store, turn: new Turn(store, clock, queue) };
}

describe('a turn', () => {
  it('is asked for once a second at most', async () => {
    const { clock, store, turn } = stage();
    for (let n = 0; n < 20; n++) {
      await clock.runUntil(turn.ask({ ...far, attempt: n }));
      await clock.advance(90);
    }
    assert.equal(store.count('put '), 2);
  });

  it('is given back after the first commit that landed', async () => {
    const { clock, bucket, store, turn } = stage();
    await clock.runUntil(turn.ask(far));
    assert.equal((await bucket.get(key)).kind, 'done');
    await clock.runUntil(turn.landed());
    assert.equal((await bucket.get(key)).kind, 'missing');
    await clock.runUntil(turn.landed());
    assert.equal(store.count('delete '), 1);
  });

  it('is looked for once a second by whoever commits often, and not by others', async () => {
    const { clock, store, turn } = stage();
    for (let n = 0; n < 50; n++) {
      await clock.runUntil(turn.landed());
      await clock.advance(100);
    }
    const often = store.count('get ');
    assert.ok(often >= 4 && often <= 5, `${often} looks in 5 s`);
    for (let n = 0; n < 20; n++) {
      await clock.runUntil(turn.landed());
      await clock.advance(500);
    }
    assert.ok(store.count('get ') <= often + 1);
  });

  it('is seen when it is asked for anew, not when it was found lying there', async () => {
    const { clock, bucket, turn } = stage();
    const seen: (number | undefined)[] = [];
    const commitFor = async (millis: number) => {
      for (let at = 0; at < millis; at += 100) {
        const asking = await clock.runUntil(turn.landed());
        if (asking) seen.push(asking.attempt);
        await clock.advance(100);
      }
    };
    await bucket.put(key, encodeTurn(far));
    await commitFor(3_000);
    assert.deepEqual(seen, []);
    await bucket.put(key, encodeTurn({ ...far, attempt: 4 }));
    await commitFor(3_000);
    assert.deepEqual(seen, [4]);
    await bucket.put(key, Uint8Array.of(1, 2, 3));
    await commitFor(3_000);
    assert.deepEqual(seen, [4]);
  });

  it('is no matter when the store is down', async () => {
    const { clock, store, turn } = stage();
    store.goDown();
    await clock.runUntil(turn.ask(far));
    await clock.runUntil(turn.landed());
    assert.ok(store.count() > 0);
  });

  scenario('that was left behind goes with the sweep', async (world) => {
    const a = world.startNode();
    await a.create('q');
    const { incarnation } = await world.state('q');
    await world.bucket.put(turnKey({ name: 'q', incarnation }), encodeTurn(far));
    assert.equal(parseObjectKey(turnKey({ name: 'q', incarnation }))?.kind, 'turn');
    await world.run(a.engine.sweep());
    assert.deepEqual(await world.keys(objectsPrefix), []);
  });
});
