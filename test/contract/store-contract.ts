/**
 * What every adapter promises behind the store port, as one suite over a factory. Run on memory and file by
 * `npm test`, on real S3 servers by real-stores.ts.
 *
 * Each test uses keys of its own, so that a bucket needn't be emptied in between, and leaves nothing that another
 * test could trip over. What only some stores answer (404 or 412 for a swap of a missing key) is left open here as
 * it is in the port.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeConditionalDeletes, describeConditions, describeRaces } from './conditional-cases.ts';
import type { FreshKeys, StoreUnderTest } from './contract-support.ts';
import { describeListing, describePaging } from './list-cases.ts';
import { describeBodies, describeKeys, describeObjects } from './object-cases.ts';

export type { StoreUnderTest } from './contract-support.ts';

export function describeStore(under: StoreUnderTest): void {
  let opened: ReturnType<StoreUnderTest['open']> | undefined;
  let lastRoot = 0;
  const keys: FreshKeys = async () => {
    opened ??= under.open();
    const { store, clients } = await opened;
    lastRoot += 1;
    return { store, clients, root: `contract/t${lastRoot}` };
  };
  describeObjects(under, keys);
  describeBodies(under, keys);
  describeKeys(under, keys);
  describeConditions(under, keys);
  if (under.conditionalDelete) describeConditionalDeletes(under, keys);
  describeRaces(under, keys);
  describeListing(under, keys);
  describePaging(under, keys);
  describe(`${under.name}: end`, () => {
    it('closes', async () => {
      assert.ok(opened !== undefined, 'no test has run');
      await opened;
      await under.close();
    });
  });
}
