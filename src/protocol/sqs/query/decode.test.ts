import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ActionCall } from '../actions/action.ts';
import { actions } from '../actions/index.ts';
import { base64FromBytes } from '../base64.ts';
import { refusal } from '../errors.ts';
import { decodeJsonRequest } from '../json/decode.ts';
import type { Shape, StructureShape } from '../shape.ts';
import { decodeQueryRequest } from './decode.ts';
import { formOf } from './form.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

/** What every action asks its decoder for. */
async function shapes(): Promise<ReadonlyMap<string, StructureShape<unknown>>> {
  const found = new Map<string, StructureShape<unknown>>();
  for (const [name, action] of actions) {
    await action.perform((shape) => {
      found.set(name, shape as StructureShape<unknown>);
      return refusal('InternalFailure', 'only asked');
    }, {} as ActionCall);
  }
  return found;
}

function decode(shape: StructureShape<unknown>, pairs: Pairs, action: string): unknown {
  const form = formOf(pairs);
  if (form.kind === 'refused') return form;
  const read = decodeQueryRequest(shape, form.form, action);
  return read.kind === 'refused' ? read : read.value;
}

/** The names of AWS's model of 2012-11-05, written down a second time. */
const WIRE: Readonly<Record<string, string>> = {
  AttributeNames: 'AttributeName',
  MessageSystemAttributeNames: 'MessageSystemAttributeName',
  MessageAttributeNames: 'MessageAttributeName',
  Attributes: 'Attribute',
  MessageAttributes: 'MessageAttribute',
  MessageSystemAttributes: 'MessageSystemAttribute',
  StringListValues: 'StringListValue',
  BinaryListValues: 'BinaryListValue',
  tags: 'Tag',
  Tags: 'Tag',
  TagKeys: 'TagKey',
  AWSAccountIds: 'AWSAccountId',
  Actions: 'ActionName',
  'SendMessageBatch Entries': 'SendMessageBatchRequestEntry',
  'DeleteMessageBatch Entries': 'DeleteMessageBatchRequestEntry',
  'ChangeMessageVisibilityBatch Entries': 'ChangeMessageVisibilityBatchRequestEntry',
};

/** As an SDK of the query protocol writes a request; values in blobs are base64 already. */
function encode(action: string, shape: Shape, value: unknown, prefix: string, member: string): Pairs {
  if (typeof shape === 'string') return [[prefix, String(value)]];
  if ('list' in shape) {
    return (value as readonly unknown[]).flatMap((item, i) =>
      encode(action, shape.list, item, `${prefix}.${i + 1}`, member),
    );
  }
  if ('members' in shape) {
    return Object.entries(value as object).flatMap(([name, item]) => {
      const wire = WIRE[`${action} ${name}`] ?? WIRE[name] ?? name;
      const of = shape.members[name];
      return of === undefined
        ? []
        : encode(action, of, item, prefix === '' ? wire : `${prefix}.${wire}`, name);
    });
  }
  const [keyName, valueName] = member.toLowerCase() === 'tags' ? ['Key', 'Value'] : ['Name', 'Value'];
  return Object.entries(value as object).flatMap(([key, item], i) => [
    [`${prefix}.${i + 1}.${keyName}`, key] as const,
    ...encode(action, 'map' in shape ? shape.map : 'string', item, `${prefix}.${i + 1}.${valueName}`, member),
  ]);
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 });

function jsonOf(shape: Shape): fc.Arbitrary<unknown> {
  if (shape === 'string') return text;
  if (shape === 'integer') return fc.integer();
  if (shape === 'blob') return fc.uint8Array({ minLength: 1, maxLength: 6 }).map(base64FromBytes);
  // No empty one: a form says by nothing that a list is there. An empty text in a list is read as no list.
  if ('list' in shape) {
    const item = shape.list === 'string' ? fc.string({ minLength: 1 }) : jsonOf(shape.list);
    return fc.array(item, { minLength: 1, maxLength: 3 });
  }
  if ('members' in shape) {
    return fc.record(
      Object.fromEntries(Object.entries(shape.members).map(([name, of]) => [name, jsonOf(of)])),
      { requiredKeys: 'Id' in shape.members ? ['Id'] : 'DataType' in shape.members ? ['DataType'] : [] },
    );
  }
  const value = 'map' in shape ? jsonOf(shape.map) : text;
  return fc.dictionary(text, value, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
}

describe('a query request', () => {
  it('is read as the JSON request that says the same, for every action', async () => {
    const known = await shapes();
    assert.equal(known.size, actions.size);
    for (const [action, shape] of known) {
      fc.assert(
        fc.property(jsonOf(shape as Shape), (json) => {
          const read = decodeJsonRequest(shape, new TextEncoder().encode(JSON.stringify(json)));
          assert.ok(read.kind === 'decoded', JSON.stringify(read));
          assert.deepEqual(decode(shape, encode(action, shape as Shape, json, '', ''), action), read.value);
        }),
        { numRuns: 60 },
      );
    }
  });

  const one = async (action: string, fields: Readonly<Record<string, string>>) => {
    const shape = (await shapes()).get(action);
    assert.ok(shape !== undefined);
    return decode(shape, Object.entries(fields), action);
  };
  const named = (entries: Readonly<Record<string, unknown>>) =>
    Object.assign(Object.create(null) as object, entries);

  it('takes entries in the order of their numbers, and passes over gaps', async () => {
    assert.deepEqual(
      await one('SendMessageBatch', {
        'SendMessageBatchRequestEntry.10.Id': 'c',
        'SendMessageBatchRequestEntry.2.Id': 'b',
        'SendMessageBatchRequestEntry.1.Id': 'a',
        'SendMessageBatchRequestEntry.x.Id': 'no number',
      }),
      { Entries: [{ Id: 'a' }, { Id: 'b' }, { Id: 'c' }] },
    );
    assert.deepEqual(await one('GetQueueAttributes', { 'AttributeName.7': 'B', 'AttributeName.3': 'A' }), {
      AttributeNames: ['A', 'B'],
    });
  });

  it('takes numbers of any length', async () => {
    assert.deepEqual(
      await one('GetQueueAttributes', {
        'AttributeName.12345678901234567890124': 'D',
        'AttributeName.12345678901234567890123': 'C',
        'AttributeName.1234567890': 'B',
        'AttributeName.0000000000000000000000000009': 'A',
      }),
      { AttributeNames: ['A', 'B', 'C', 'D'] },
    );
  });

  it('takes entries without a number, as boto and kombu send them', async () => {
    const set = { 'Attribute.Name': 'VisibilityTimeout', 'Attribute.Value': '7' };
    assert.deepEqual(await one('SetQueueAttributes', set), {
      Attributes: named({ VisibilityTimeout: '7' }),
    });
    const both = { ...set, 'Attribute.1.Name': 'DelaySeconds', 'Attribute.1.Value': '' };
    assert.deepEqual(await one('SetQueueAttributes', both), {
      Attributes: named({ VisibilityTimeout: '7', DelaySeconds: '' }),
    });
    const delete1 = { 'DeleteMessageBatchRequestEntry.Id': 'a', 'DeleteMessageBatchRequestEntry.1.Id': 'b' };
    assert.deepEqual(await one('DeleteMessageBatch', delete1), { Entries: [{ Id: 'a' }, { Id: 'b' }] });
    assert.deepEqual(await one('ReceiveMessage', { AttributeName: 'All', MessageAttributeName: 'a.*' }), {
      AttributeNames: ['All'],
      MessageAttributeNames: ['a.*'],
    });
  });

  it('reads an empty list as none, and no name but the exact one', async () => {
    assert.deepEqual(await one('ReceiveMessage', { AttributeName: '', attributename: 'All' }), {});
    assert.deepEqual(await one('SendMessage', { messagebody: 'x', 'MessageBody.1': 'y', Nonsense: 'z' }), {});
    assert.deepEqual(await one('SendMessageBatch', { Entries: '', SendMessageBatchRequestEntry: '' }), {});
  });

  it('reads names of objects as names', async () => {
    const fields = { 'Attribute.1.Name': '__proto__', 'Attribute.1.Value': 'x' };
    const read = (await one('CreateQueue', fields)) as { Attributes: object };
    assert.deepEqual(Object.entries(read.Attributes), [['__proto__', 'x']]);
  });

  it('refuses a number that is none, bad base64, a map entry without a value and one that comes twice', async () => {
    const refused = { kind: 'refused', type: 'SerializationException' };
    for (const value of ['', 'x', '1.5', '1e3', '0x10', ' 1', '9'.repeat(16)])
      assert.deepEqual(await one('ReceiveMessage', { WaitTimeSeconds: value }), {
        ...refused,
        message: 'STRING_VALUE can not be converted to an Integer',
      });
    assert.deepEqual(await one('ReceiveMessage', { WaitTimeSeconds: '-1' }), { WaitTimeSeconds: -1 });
    const blob = { 'MessageAttribute.1.Name': 'a', 'MessageAttribute.1.Value.BinaryValue': '*' };
    assert.deepEqual(await one('SendMessage', blob), { ...refused, message: 'Invalid Base64 in a Blob.' });
    assert.deepEqual(await one('CreateQueue', { 'Attribute.1.Name': 'a' }), {
      kind: 'refused',
      type: 'MissingRequiredParameterException',
      message: 'The request must contain the parameter Attribute.Value.',
    });
    const twice = { 'Tag.1.Key': 'a', 'Tag.1.Value': '1', 'Tag.2.Key': 'a', 'Tag.2.Value': '2' };
    assert.deepEqual(await one('CreateQueue', twice), {
      kind: 'refused',
      type: 'InvalidParameterValueException',
      message: "Tag 'a' is given more than once.",
    });
  });
});
