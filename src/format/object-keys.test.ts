import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Incarnation, incarnationFrom } from '../core/ids.ts';
import { isQueueName } from '../core/queue-arn.ts';
import {
  clockObjectKey,
  incarnationPrefix,
  isQueueNamePrefix,
  keyBeforeManifest,
  manifestKey,
  manifestPrefix,
  moveTaskKey,
  type ObjectKeyParts,
  objectKey,
  parseMoveTaskKey,
  parseObjectKey,
  queueNameOfManifestKey,
  queuePrefix,
} from './object-keys.ts';

const alphabet = 'ABCXYZabcxyz0189-_';
const plainName = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 75 });
const name = fc.oneof(
  plainName,
  plainName.map((text) => `${text}.fifo`),
);
const incarnation = fc.uint8Array({ minLength: 16, maxLength: 16 }).map(incarnationFrom);
const parts: fc.Arbitrary<ObjectKeyParts> = fc.record(
  {
    name,
    incarnation,
    kind: fc.constant('seg' as const),
    baseVersion: fc.oneof(fc.nat(1000), fc.maxSafeNat()),
    nonce: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 }),
  },
  { noNullPrototype: true },
);

const someIncarnation = '00112233445566778899aabbccddeeff' as Incarnation;

describe('object keys', () => {
  it('keep their form for ever: buckets outlive upgrades', () => {
    assert.equal(manifestKey('orders'), 'm/orders');
    assert.equal(clockObjectKey(new Uint8Array(8).fill(0xab)), 'probe/clock-abababababababab');
    assert.equal(
      objectKey({
        name: 'orders-2.fifo',
        incarnation: someIncarnation,
        kind: 'seg',
        baseVersion: 42,
        nonce: '0123456789abcdef',
      }),
      's/25b4d642-orders-2.fifo/00112233445566778899aabbccddeeff/seg/0000000000000042-0123456789abcdef',
    );
  });

  it('give a key right before that of a queue, with no other queue in between', () => {
    assert.ok(keyBeforeManifest('a0') < manifestKey('a0'));
    assert.equal(keyBeforeManifest('a-'), 'm/a');
    const near = fc.string({ unit: fc.constantFrom(...'-01AZ_az'), minLength: 1, maxLength: 4 });
    const pair = fc.oneof(fc.tuple(near, near), fc.tuple(name, name));
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const before = keyBeforeManifest(one);
        assert.match(before, /^m\/[A-Za-z0-9_.-]*$/);
        assert.ok(before < manifestKey(one));
        if (other < one) assert.ok(manifestKey(other) <= before, `${other} is between ${before} and ${one}`);
      }),
    );
  });

  it('round trip, below the prefixes of their queue and incarnation, in the alphabet every store takes', () => {
    fc.assert(
      fc.property(parts, (value) => {
        const key = objectKey(value);
        assert.deepEqual(parseObjectKey(key), value);
        assert.match(key, /^[A-Za-z0-9_./-]+$/);
        assert.ok(key.startsWith(incarnationPrefix(value.name, value.incarnation)));
        assert.ok(key.startsWith(queuePrefix(value.name)));
      }),
    );
  });

  it('of one incarnation list in the order of their base versions', () => {
    fc.assert(
      fc.property(parts, fc.maxSafeNat(), (value, otherVersion) => {
        fc.pre(otherVersion !== value.baseVersion);
        const key = objectKey(value);
        const other = objectKey({ ...value, baseVersion: otherVersion });
        assert.equal(key < other, value.baseVersion < otherVersion);
      }),
    );
  });

  it("no queue's prefix covers another queue's objects", () => {
    fc.assert(
      fc.property(parts, name, (value, other) => {
        fc.pre(other !== value.name);
        assert.equal(objectKey(value).startsWith(queuePrefix(other)), false);
      }),
    );
  });

  it('of manifests give the name back, and begin with the prefix of any beginning of it', () => {
    fc.assert(
      fc.property(name, fc.nat(80), (value, length) => {
        assert.equal(queueNameOfManifestKey(manifestKey(value)), value);
        assert.ok(isQueueNamePrefix(value.slice(0, length)));
        assert.ok(manifestKey(value).startsWith(manifestPrefix(value.slice(0, length))));
      }),
    );
  });

  it('are never built from what is not a queue name', () => {
    const bad = [
      '',
      '..',
      '.fifo',
      'a/b',
      'a.b',
      'a.fifo.fifo',
      'ä',
      'a ',
      'a\n',
      'a'.repeat(81),
      `${'a'.repeat(76)}.fifo`,
    ];
    for (const text of bad) {
      assert.equal(isQueueName(text), false, text);
      assert.throws(() => manifestKey(text), TypeError);
      assert.throws(() => queuePrefix(text), TypeError);
      assert.equal(queueNameOfManifestKey(`m/${text}`), undefined);
    }
    for (const text of ['/', '..', '.', 'a..', 'a.b', 'a.o', 'a.fo', 'a\n']) {
      assert.equal(isQueueNamePrefix(text), false, text);
      assert.throws(() => manifestPrefix(text), TypeError);
    }
    assert.throws(() => incarnationPrefix('a', '../..' as Incarnation), TypeError);
  });

  it('that this version does not write are not parsed', () => {
    const key = objectKey({
      name: 'q',
      incarnation: someIncarnation,
      kind: 'seg',
      baseVersion: 1,
      nonce: '0123456789abcdef',
    });
    assert.notEqual(parseObjectKey(key), undefined);
    const others = [
      manifestKey('q'),
      key.replace('/seg/', '/page/'),
      key.replace('-q/', '-r/'),
      key.replace(someIncarnation, someIncarnation.toUpperCase()),
      key.replace('0000000000000001', '9999999999999999'),
      `${key}0`,
      `${key}\n`,
      `x${key}`,
      key.replace('s/', 't/'),
    ];
    for (const other of others) assert.equal(parseObjectKey(other), undefined, other);
  });

  it('of a marker of a move task names queue and task, and nothing else does', () => {
    const id = '10f57157-fc38-4da9-a113-4de7e12d05aa';
    for (const queue of ['dlq', 'a_b-c', 'letters.fifo']) {
      assert.equal(moveTaskKey(queue, id), `t/${queue}/${id}`);
      assert.deepEqual(parseMoveTaskKey(moveTaskKey(queue, id)), { queue, id });
    }
    for (const bad of ['t/dlq', `t/d.q/${id}`, `t/dlq/${id}/x`, `t/dlq/${id.toUpperCase()}`, `m/dlq/${id}`])
      assert.equal(parseMoveTaskKey(bad), undefined, bad);
    assert.throws(() => moveTaskKey('no queue!', id), TypeError);
    assert.throws(() => moveTaskKey('dlq', '../m/dlq'), TypeError);
  });
});
