/**
 * Reads a JSON request by its shape. Members the shape does not name are ignored, `null` is absent, and a value of
 * the wrong type is a SerializationException with the words AWS uses for it, never our own failure.
 */

import { bytesFromBase64 } from '../base64.ts';
import { type Refusal, refusal } from '../errors.ts';
import type { Shape, StructureShape } from '../shape.ts';

type Decoded = { readonly kind: 'decoded'; readonly value: unknown } | Refusal;

export type DecodedRequest<T> = { readonly kind: 'decoded'; readonly value: T } | Refusal;

function unreadable(message: string): Refusal {
  return refusal('SerializationException', message);
}

function wrongType(value: unknown, wanted: 'a String' | 'an Integer' | 'a Blob'): Refusal {
  if (Array.isArray(value)) return unreadable('Start of list found where not expected');
  if (typeof value === 'object') return unreadable('Start of structure or map found where not expected.');
  const token =
    typeof value === 'boolean'
      ? `${String(value).toUpperCase()}_VALUE`
      : typeof value === 'number'
        ? Number.isInteger(value)
          ? 'NUMBER_VALUE'
          : 'DECIMAL_VALUE'
        : 'STRING_VALUE';
  return unreadable(`${token} can not be converted to ${wanted}`);
}

function decoded(value: unknown): Decoded {
  return { kind: 'decoded', value };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decodeScalar(shape: 'string' | 'integer' | 'blob', value: unknown): Decoded {
  switch (shape) {
    case 'string':
      return typeof value === 'string' ? decoded(value) : wrongType(value, 'a String');
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
        ? decoded(value)
        : wrongType(value, 'an Integer');
    case 'blob': {
      if (typeof value !== 'string') return wrongType(value, 'a Blob');
      const bytes = bytesFromBase64(value);
      return bytes === undefined ? unreadable('Invalid Base64 in a Blob.') : decoded(bytes);
    }
  }
}

function decodeList(element: Shape, value: unknown): Decoded {
  if (!Array.isArray(value)) {
    return isObject(value) ? wrongType(value, 'a String') : unreadable('Expected a list.');
  }
  const list: unknown[] = [];
  for (const item of value as readonly unknown[]) {
    if (item === null) continue;
    const result = decode(element, item);
    if (result.kind === 'refused') return result;
    list.push(result.value);
  }
  return decoded(list);
}

/** Own properties on an object without a prototype: names are the caller's text. */
function decodeMap(element: Shape, value: unknown): Decoded {
  if (!isObject(value)) return unreadable('Expected a structure or map.');
  const map: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    if (item === null) continue;
    const result = decode(element, item);
    if (result.kind === 'refused') return result;
    map[name] = result.value;
  }
  return decoded(map);
}

function decodeTextMap(value: unknown): Decoded {
  if (!isObject(value)) return unreadable('Expected a structure or map.');
  const map: Record<string, string> = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    if (item === null) continue;
    if (typeof item === 'object') return wrongType(item, 'a String');
    map[name] = String(item);
  }
  return decoded(map);
}

function decodeStructure(members: Readonly<Record<string, Shape>>, value: unknown): Decoded {
  if (!isObject(value)) return unreadable('Expected a structure or map.');
  const structure: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const shape = members[name];
    if (shape === undefined || !Object.hasOwn(value, name)) continue;
    const item = value[name];
    if (item === null) continue;
    const result = decode(shape, item);
    if (result.kind === 'refused') return result;
    structure[name] = result.value;
  }
  return decoded(structure);
}

function decode(shape: Shape, value: unknown): Decoded {
  if (typeof shape === 'string') return decodeScalar(shape, value);
  if ('list' in shape) return decodeList(shape.list, value);
  if ('map' in shape) return decodeMap(shape.map, value);
  if ('textMap' in shape) return decodeTextMap(value);
  return decodeStructure(shape.members, value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `T` is what `shape` was derived from; the shape's own type is the proof that the cast holds. */
export function decodeJsonRequest<T>(shape: StructureShape<T>, body: Uint8Array): DecodedRequest<T> {
  let json: unknown = {};
  if (body.length > 0) {
    try {
      json = JSON.parse(utf8.decode(body));
    } catch {
      return unreadable('The request body is not valid JSON.');
    }
  }
  const result = decodeStructure(shape.members as Readonly<Record<string, Shape>>, json);
  return result.kind === 'refused' ? result : { kind: 'decoded', value: result.value as T };
}
