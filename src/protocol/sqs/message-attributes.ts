/**
 * Message attributes: from a request's values to ours, checked by the rules of SQS.md section 3, and back to what a
 * receive asked for. Texts of refusals as AWS words them.
 */
import type { MessageAttributeValue as WireValue } from '@aws-sdk/client-sqs';
import type { MessageAttributes, MessageAttributeValue } from '../../core/message.ts';
import { utf8Length } from '../../core/utf8-length.ts';
import { base64FromBytes } from './base64.ts';
import { firstForbiddenCodePoint } from './content-characters.ts';
import { invalidParameter, type Refusal } from './errors.ts';
import type { Answer, ShapeOf } from './shape.ts';

export const messageAttributeShape = {
  members: {
    StringValue: 'string',
    BinaryValue: 'blob',
    StringListValues: { list: 'string' },
    BinaryListValues: { list: 'blob' },
    DataType: 'string',
  },
} as const satisfies ShapeOf<WireValue>;

const ATTRIBUTES_MAX = 10;
const NAME_CHARACTERS_MAX = 256;
const TYPE_CHARACTERS_MAX = 256;

/** Letters of any script: documented are A-Z and a-z alone, but AWS takes umlauts (localstack's validated tests). */
const NAME = /^[\p{L}\p{Nd}_.-]+$/u;
const RESERVED_PREFIX = /^(?:aws|amazon)\./i;
const TYPE = /^(String|Number|Binary)(?:\.[\s\S]*)?$/;
const NUMBER = /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$/;

function checkName(name: string): Refusal | undefined {
  if (name === '')
    return invalidParameter('The request must contain non-empty message (user) attribute names.');
  if (name.length > NAME_CHARACTERS_MAX) {
    return invalidParameter('Message (user) attribute name must be shorter than 256 bytes.');
  }
  if (RESERVED_PREFIX.test(name)) {
    return invalidParameter(
      "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. These strings are reserved for internal use.",
    );
  }
  if (!NAME.test(name)) {
    return invalidParameter(
      `The message attribute name '${name}' is invalid. Attribute name can contain letters, digits, underscore (_), hyphen (-), and period (.) characters.`,
    );
  }
  if (name.startsWith('.') || name.endsWith('.') || name.includes('..')) {
    return invalidParameter(
      `The message attribute name '${name}' is invalid. Attribute name can't start or end with a period (.) or have periods in succession.`,
    );
  }
  return undefined;
}

function checkType(name: string, dataType: string | undefined): Refusal | undefined {
  if (dataType === undefined || dataType === '') {
    return invalidParameter(
      `The message (user) attribute '${name}' must contain a non-empty message attribute value.`,
    );
  }
  if (dataType.length > TYPE_CHARACTERS_MAX) {
    return invalidParameter('Message (user) attribute type must be shorter than 256 bytes.');
  }
  if (!TYPE.test(dataType) || firstForbiddenCodePoint(dataType) !== undefined) {
    return invalidParameter(
      `The type of message (user) attribute '${name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.`,
    );
  }
  return undefined;
}

function parseTextValue(name: string, dataType: string, text: string): MessageAttributeValue | Refusal {
  const forbidden = firstForbiddenCodePoint(text);
  if (forbidden !== undefined) {
    return invalidParameter(
      `Invalid binary character '${forbidden}' was found in the value of message (user) attribute '${name}', the set of allowed characters is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].`,
    );
  }
  if (dataType.startsWith('Number') && !NUMBER.test(text)) {
    return invalidParameter(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  return { kind: 'text', dataType, text };
}

function parseValue(name: string, value: WireValue): MessageAttributeValue | Refusal {
  const { DataType: dataType, StringValue: text, BinaryValue: bytes } = value;
  if ((value.StringListValues ?? []).length > 0 || (value.BinaryListValues ?? []).length > 0) {
    return invalidParameter('Message attribute list values in SendMessage operation are not supported.');
  }
  const refused = checkType(name, dataType);
  if (refused !== undefined || dataType === undefined) return refused ?? invalidParameter(name);
  const base = dataType.split('.', 1)[0] ?? dataType;
  const binary = base === 'Binary';
  if (binary ? bytes === undefined || bytes.length === 0 : text === undefined || text === '') {
    return invalidParameter(
      `Message (user) attribute '${name}' must contain a non-empty value of type '${base}'.`,
    );
  }
  if (binary && text === undefined && bytes !== undefined) return { kind: 'binary', dataType, bytes };
  if (!binary && bytes === undefined && text !== undefined) return parseTextValue(name, dataType, text);
  return invalidParameter(
    `Message (user) attribute '${name}' must contain exactly one value, of type '${base}'.`,
  );
}

export function parseMessageAttributes(
  input: Readonly<Record<string, WireValue>> | undefined,
): { readonly kind: 'parsed'; readonly attributes: MessageAttributes } | Refusal {
  const attributes = new Map<string, MessageAttributeValue>();
  const entries = Object.entries(input ?? {});
  if (entries.length > ATTRIBUTES_MAX) {
    return invalidParameter(
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${ATTRIBUTES_MAX}].`,
    );
  }
  for (const [name, value] of entries) {
    const parsed = checkName(name) ?? parseValue(name, value);
    if (parsed.kind === 'refused') return parsed;
    attributes.set(name, parsed);
  }
  return { kind: 'parsed', attributes };
}

/** Name, data type and value of each, as the size of a message counts them; also of what will be refused. */
export function messageAttributesBytes(input: Readonly<Record<string, WireValue>> | undefined): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(input ?? {})) {
    bytes += utf8Length(name) + utf8Length(value.DataType ?? '') + utf8Length(value.StringValue ?? '');
    bytes += value.BinaryValue?.length ?? 0;
  }
  return bytes;
}

/** Which attributes a receive wants: everything, those beginning with a prefix, or single ones. */
export function selectMessageAttributes(
  attributes: MessageAttributes,
  filters: readonly string[],
): MessageAttributes {
  if (attributes.size === 0 || filters.length === 0) return new Map();
  const wanted = (name: string) =>
    filters.some((filter) => {
      if (filter === 'All' || filter === '*' || filter === '.*') return true;
      return filter.endsWith('.*') ? name.startsWith(filter.slice(0, -2)) : name === filter;
    });
  return new Map([...attributes].filter(([name]) => wanted(name)));
}

/** Back to the wire; binary values as base64. */
export function wireMessageAttributes(attributes: MessageAttributes): Record<string, Answer<WireValue>> {
  const wire: Record<string, Answer<WireValue>> = Object.create(null);
  for (const [name, value] of attributes) {
    wire[name] =
      value.kind === 'binary'
        ? { BinaryValue: base64FromBytes(value.bytes), DataType: value.dataType }
        : { StringValue: value.text, DataType: value.dataType };
  }
  return wire;
}
