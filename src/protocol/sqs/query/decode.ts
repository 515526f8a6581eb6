/**
 * Reads the form of a query request by the action's shape, so that an action gets what the JSON request would have
 * given it. Parameters the shape does not name are ignored.
 *
 * Lists and maps are numbered from 1; what counts is the order of the numbers, gaps are passed over. An entry without
 * a number (`Attribute.Name` and `Attribute.Value`, `AttributeName=All`), as boto and kombu send it, is the first.
 */

import { bytesFromBase64 } from '../base64.ts';
import { invalidParameter, missingParameter, type Refusal, refusal } from '../errors.ts';
import type { Shape, StructureShape } from '../shape.ts';
import type { FormNode } from './form.ts';
import { listEntryName, type MapNames, mapNames } from './names.ts';

/** A value of undefined is a parameter that is not there. */
type Decoded = { readonly kind: 'decoded'; readonly value: unknown } | Refusal;

/** However long: an entry that was overlooked for its number would be missing from what is stored. */
const NUMBER = /^[0-9]+$/;
const INTEGER = /^[+-]?[0-9]{1,15}$/;

const absent: Decoded = { kind: 'decoded', value: undefined };

function unreadable(message: string): Refusal {
  return refusal('SerializationException', message);
}

function decodeScalar(shape: 'string' | 'integer' | 'blob', text: string | undefined): Decoded {
  if (text === undefined) return absent;
  switch (shape) {
    case 'string':
      return { kind: 'decoded', value: text };
    case 'integer':
      return INTEGER.test(text)
        ? { kind: 'decoded', value: Number(text) }
        : unreadable('STRING_VALUE can not be converted to an Integer');
    case 'blob': {
      const bytes = bytesFromBase64(text);
      return bytes === undefined
        ? unreadable('Invalid Base64 in a Blob.')
        : { kind: 'decoded', value: bytes };
    }
  }
}

/** Of digits alone; exact at any length, which `Number` is not. */
function compareNumbers(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (x.length !== y.length) return x.length - y.length;
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * The node itself when it is an entry without a number, which its value or a child of a name in `own` shows; then its
 * numbered children in the order of their numbers.
 */
function entriesOf(node: FormNode, own: readonly string[]): readonly FormNode[] {
  const entries = [...node.children]
    .filter(([name]) => NUMBER.test(name))
    .sort(([a], [b]) => compareNumbers(a, b))
    .map(([, child]) => child);
  // Botocore writes an empty list as an empty value.
  const isEntry = own.length === 0 ? !!node.value : own.some((name) => node.children.has(name));
  return isEntry ? [node, ...entries] : entries;
}

function decodeList(element: Shape, node: FormNode, action: string): Decoded {
  const list: unknown[] = [];
  const own = typeof element === 'object' && 'members' in element ? Object.keys(element.members) : [];
  for (const entry of entriesOf(node, own)) {
    const item = decode(element, entry, action);
    if (item.kind === 'refused') return item;
    if (item.value !== undefined) list.push(item.value);
  }
  return list.length === 0 ? absent : { kind: 'decoded', value: list };
}

function mapNode(member: string, parent: FormNode): FormNode {
  const names = mapNames(member);
  const node = parent.children.get(names?.entry ?? member);
  if (node !== undefined || names?.older === undefined) return node ?? NOTHING;
  const older = parent.children.get(names.older);
  return older?.children.get('entry') ?? older ?? NOTHING;
}

/** A part of an entry; where entries may come without being flattened, also by the name it has then. */
function part(entry: FormNode, name: string, names: MapNames): FormNode {
  const found = entry.children.get(name);
  return found ?? (names.older === undefined ? undefined : entry.children.get(name.toLowerCase())) ?? NOTHING;
}

/** Own properties on an object without a prototype: names are the caller's text. */
function decodeMap(member: string, element: Shape, node: FormNode, action: string): Decoded {
  const names = mapNames(member);
  if (names === undefined) throw new Error(`a map without names in the query protocol: ${member}`);
  const map: Record<string, unknown> = Object.create(null);
  const entries = entriesOf(node, [names.key, names.value]);
  for (const entry of entries) {
    const key = part(entry, names.key, names).value ?? '';
    if (Object.hasOwn(map, key)) return invalidParameter(`${names.entry} '${key}' is given more than once.`);
    const item = decode(element, part(entry, names.value, names), action);
    if (item.kind === 'refused') return item;
    if (item.value === undefined) return missingParameter(`${names.entry}.${names.value}`);
    map[key] = item.value;
  }
  return entries.length === 0 ? absent : { kind: 'decoded', value: map };
}

const NOTHING: FormNode = { value: undefined, children: new Map() };

function decodeMember(member: string, shape: Shape, parent: FormNode, action: string): Decoded {
  const list = typeof shape === 'object' && 'list' in shape ? shape.list : undefined;
  if (list !== undefined) {
    const name = listEntryName(action, member);
    if (name === undefined) throw new Error(`a list without a name in the query protocol: ${member}`);
    return decodeList(list, parent.children.get(name) ?? NOTHING, action);
  }
  if (typeof shape === 'object' && ('map' in shape || 'textMap' in shape)) {
    const element = 'map' in shape ? shape.map : 'string';
    return decodeMap(member, element, mapNode(member, parent), action);
  }
  return decode(shape, parent.children.get(member) ?? NOTHING, action);
}

function decodeStructure(
  members: Readonly<Record<string, Shape>>,
  node: FormNode,
  action: string,
): { readonly kind: 'decoded'; readonly value: Readonly<Record<string, unknown>> } | Refusal {
  const structure: Record<string, unknown> = {};
  for (const [member, shape] of Object.entries(members)) {
    const result = decodeMember(member, shape, node, action);
    if (result.kind === 'refused') return result;
    if (result.value !== undefined) structure[member] = result.value;
  }
  return { kind: 'decoded', value: structure };
}

/** Of a shape that stands alone: an entry of a list or the value of a map. */
function decode(shape: Shape, node: FormNode, action: string): Decoded {
  if (typeof shape === 'string') return decodeScalar(shape, node.value);
  if ('members' in shape) return decodeStructure(shape.members, node, action);
  throw new Error('the query protocol has no list or map directly inside of another');
}

/** `T` is what `shape` was derived from; the shape's own type is the proof that the cast holds. */
export function decodeQueryRequest<T>(
  shape: StructureShape<T>,
  form: FormNode,
  action: string,
): { readonly kind: 'decoded'; readonly value: T } | Refusal {
  const result = decodeStructure(shape.members as Readonly<Record<string, Shape>>, form, action);
  return result.kind === 'refused' ? result : { kind: 'decoded', value: result.value as T };
}
