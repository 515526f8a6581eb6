import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from './random.ts';
import {
  calm,
  drawFault,
  drawLateness,
  drawRegime,
  type FaultKind,
  faultKinds,
  lateMillisMax,
  type StoreRequest,
} from './store-faults.ts';

const request = (method: string, ...rawHeaders: readonly string[]): StoreRequest => ({
  method,
  path: '/okuri/m/q',
  rawHeaders,
  body: new Uint8Array(),
});
const kindsFor = (asked: StoreRequest): ReadonlySet<FaultKind | undefined> => {
  const random = seededRandom(1);
  const always: ReadonlySet<FaultKind | undefined> = new Set(
    faultKinds.map((kind) => drawFault(new Map([[kind, 1]]), asked, random)),
  );
  return always;
};

describe('faults', () => {
  it('of all kinds come to a conditional write', () => {
    const kinds = kindsFor(request('PUT', 'If-Match', '"1"'));
    for (const kind of faultKinds) assert.ok(kinds.has(kind), kind);
  });
  it('that speak of a condition come to no other write', () => {
    const kinds = [...kindsFor(request('PUT', 'Content-Length', '0'))];
    assert.ok(!kinds.some((kind) => kind !== undefined && /409|412/.test(kind)), kinds.join());
    assert.ok(kinds.includes('write late'));
  });
  it('of writes do not come to reads', () => {
    const kinds = [...kindsFor(request('GET', 'If-None-Match', '"1"'))];
    assert.ok(!kinds.some((kind) => kind !== undefined && /^write|409|412|though done/.test(kind)));
    assert.ok(kinds.includes('answer stalled'));
  });
  it('are off when it is calm', () => {
    assert.equal(drawFault(calm, request('PUT'), seededRandom(1)), undefined);
  });
  it('are seldom enough that most requests pass, and each is off in some regime and on in another', () => {
    const random = seededRandom(1);
    const regimes = Array.from({ length: 50 }, () => drawRegime(random));
    for (const kind of faultKinds) {
      const on = regimes.filter((regime) => regime.has(kind)).length;
      assert.ok(on > 0 && on < regimes.length, kind);
    }
    for (const regime of regimes) assert.ok([...regime.values()].reduce((sum, rate) => sum + rate, 0) < 0.7);
  });
  it('that come late come within the bound', () => {
    const random = seededRandom(1);
    for (let n = 0; n < 1_000; n += 1) assert.ok(drawLateness(random) <= lateMillisMax);
  });
});
