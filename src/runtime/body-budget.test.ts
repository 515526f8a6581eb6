import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BodyBudget, type HeldBody } from './body-budget.ts';

describe('body budget', () => {
  it('gives large bodies none of the room of small ones', () => {
    const budget = new BodyBudget({ smallBytes: 10, allSmallBytesMax: 30, allLargeBytesMax: 50 });
    assert.ok(budget.hold().grow(60));
    assert.equal(budget.hold().grow(11), false);
    assert.ok(budget.hold().grow(10));
    assert.ok(budget.hold().grow(10));
    assert.equal(budget.hold().grow(1), false);
  });

  it('takes all of a growth or nothing, and goes on from there', () => {
    const budget = new BodyBudget({ smallBytes: 10, allSmallBytesMax: 10, allLargeBytesMax: 5 });
    const body = budget.hold();
    assert.ok(body.grow(8));
    assert.equal(body.grow(8), false);
    assert.ok(body.grow(7));
    assert.equal(body.grow(1), false);
  });

  it('is whole again when every body has given back, however they grew', () => {
    const bounds = { smallBytes: 8, allSmallBytesMax: 24, allLargeBytesMax: 24 };
    const step = fc.record({ body: fc.nat(4), bytes: fc.nat(20), back: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const budget = new BodyBudget(bounds);
        const bodies: HeldBody[] = [0, 1, 2, 3, 4].map(() => budget.hold());
        for (const { body, bytes, back } of steps) {
          if (back) bodies[body]!.giveBack();
          else bodies[body]!.grow(bytes);
        }
        for (const body of bodies) body.giveBack();
        for (const body of bodies) body.giveBack();
        const all = [budget.hold(), budget.hold(), budget.hold()];
        assert.ok(all.every((body) => body.grow(16)));
        assert.equal(budget.hold().grow(1), false);
      }),
    );
  });
});
