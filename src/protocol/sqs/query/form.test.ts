import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FormNode, formOf, parametersOfBody } from './form.ts';

function read(body: string | Uint8Array): FormNode | string {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const read = parametersOfBody(bytes);
  if (read.kind === 'refused') return read.message;
  const form = formOf(read.parameters);
  return form.kind === 'refused' ? form.message : form.form;
}

function at(node: FormNode | string, ...path: readonly string[]): string | undefined {
  assert.ok(typeof node !== 'string', String(node));
  let found: FormNode | undefined = node;
  for (const part of path) found = found?.children.get(part);
  return found?.value;
}

const malformed = 'The request body is not a valid form in UTF-8.';

describe('the form of a query request', () => {
  it('is a tree by the dots of its names', () => {
    const form = read(
      'MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=String&Action=SendMessage',
    );
    assert.equal(at(form, 'MessageAttribute', '1', 'Name'), 'a');
    assert.equal(at(form, 'MessageAttribute', '1', 'Value', 'DataType'), 'String');
    assert.equal(at(form, 'Action'), 'SendMessage');
  });

  it('reads plus as a space, escapes as UTF-8, raw text as it is, and the rest of a pair as its value', () => {
    const form = read('a=x+y%2B%26%3D%F0%9F%8E%89&b=grüße🎉&c=1=2&d&=e&&f=%0D%0A%09');
    assert.equal(at(form, 'a'), 'x y+&=🎉');
    assert.equal(at(form, 'b'), 'grüße🎉');
    assert.equal(at(form, 'c'), '1=2');
    assert.equal(at(form, 'd'), '');
    assert.equal(at(form, ''), 'e');
    assert.equal(at(form, 'f'), '\r\n\t');
  });

  it('refuses broken escapes, bytes that are no UTF-8 and surrogates', () => {
    for (const body of ['a=%', 'a=100%25%2', 'a=%zz', 'a=%ff', 'a=%ED%A0%80', '%=1'])
      assert.equal(read(body), malformed, body);
    assert.equal(read(Uint8Array.of(0x61, 0x3d, 0xff)), malformed);
  });

  it('refuses a parameter with two values, and overlooks one that is repeated', () => {
    assert.equal(read('Action=A&b=1&Action=B'), 'The parameter Action is given more than once.');
    assert.equal(at(read('Action=A&Action=A'), 'Action'), 'A');
  });

  it('is bounded in number and depth', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `a.${i}=`).join('&');
    assert.ok(typeof read(many(10_000)) !== 'string');
    assert.equal(read(many(10_001)), 'The request has more than 10000 parameters.');
    const deep = read(`a.b.c.d.e.f.g=1&${'x.'.repeat(1_000_000)}=2`);
    assert.equal(at(deep, 'a', 'b', 'c', 'd', 'e', 'f', 'g'), '1');
    assert.deepEqual([...(deep as FormNode).children.keys()], ['a']);
  });

  it('gives back whatever text was encoded, however it was encoded', () => {
    const textual = fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Surrogate}/u.test(text));
    fc.assert(
      fc.property(textual, fc.boolean(), (text, plus) => {
        const escaped = encodeURIComponent(text);
        assert.equal(at(read(`a=${plus ? escaped.replaceAll('%20', '+') : escaped}`), 'a'), text);
        assert.equal(at(read(new URLSearchParams({ a: text }).toString()), 'a'), text);
      }),
    );
  });
});
