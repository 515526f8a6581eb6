/** Planted faults keep up with the product: each finds the text that it changes. Whether it is seen, mutants.ts tells. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allMutants } from './mutants/all.ts';
import { spoiled } from './mutants/plant.ts';

describe('planted faults', () => {
  it('change texts that the product has exactly once', () => {
    const lost: string[] = [];
    for (const { name, patches } of allMutants)
      try {
        spoiled(patches);
      } catch (error) {
        lost.push(`${name}: ${error}`);
      }
    assert.deepEqual(lost, []);
  });

  it('have names of their own', () => {
    assert.equal(new Set(allMutants.map(({ name }) => name)).size, allMutants.length);
  });
});
