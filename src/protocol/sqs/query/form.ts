/**
 * The parameters of a query request as a tree: `MessageAttribute.1.Name=a` is the value `a` at MessageAttribute, 1, Name.
 *
 * - Nothing is repaired: a broken escape, bytes that are no UTF-8 and a parameter that comes with two values are
 *   refused, since a guess could become part of a message.
 * - Bounded in number and depth, so that a large body of tiny parameters costs no more memory than its actions need.
 */
import { type Refusal, refusal } from '../errors.ts';

export interface FormNode {
  readonly value: string | undefined;
  readonly children: ReadonlyMap<string, FormNode>;
}

/** Ten entries of a batch with ten attributes each need about 500. */
const PARAMETERS_MAX = 10_000;
/** SendMessageBatchRequestEntry.N.MessageAttribute.N.Value.StringListValue.N; deeper names are no parameter of ours. */
const NAME_PARTS_MAX = 7;

interface OpenNode {
  value: string | undefined;
  readonly children: Map<string, OpenNode>;
}

export type Parameters = readonly (readonly [name: string, value: string])[];
export type ReadForm = { readonly kind: 'form'; readonly form: FormNode } | Refusal;

function malformed(message: string): Refusal {
  return refusal('SerializationException', message);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `application/x-www-form-urlencoded`: `+` is a space. @throws URIError when an escape is broken. */
function formComponent(text: string): string {
  return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** @returns the parameters of a form body. */
export function parametersOfBody(
  body: Uint8Array,
): { readonly kind: 'parameters'; readonly parameters: Parameters } | Refusal {
  const parameters: (readonly [string, string])[] = [];
  try {
    const text = utf8.decode(body);
    let at = 0;
    while (at < text.length && parameters.length <= PARAMETERS_MAX) {
      const ampersand = text.indexOf('&', at);
      const end = ampersand < 0 ? text.length : ampersand;
      if (end > at) {
        const equals = text.slice(at, end).indexOf('=');
        const nameEnd = equals < 0 ? end : at + equals;
        parameters.push([
          formComponent(text.slice(at, nameEnd)),
          formComponent(text.slice(nameEnd + 1, end)),
        ]);
      }
      at = end + 1;
    }
  } catch {
    return malformed('The request body is not a valid form in UTF-8.');
  }
  return { kind: 'parameters', parameters };
}

function nodeAt(root: OpenNode, name: string): OpenNode | undefined {
  const parts = name.split('.', NAME_PARTS_MAX + 1);
  if (parts.length > NAME_PARTS_MAX) return undefined;
  let node = root;
  for (const part of parts) {
    let child = node.children.get(part);
    if (child === undefined) {
      child = { value: undefined, children: new Map() };
      node.children.set(part, child);
    }
    node = child;
  }
  return node;
}

export function formOf(parameters: Parameters): ReadForm {
  if (parameters.length > PARAMETERS_MAX) {
    return malformed(`The request has more than ${PARAMETERS_MAX} parameters.`);
  }
  const root: OpenNode = { value: undefined, children: new Map() };
  for (const [name, value] of parameters) {
    const node = nodeAt(root, name);
    if (node === undefined) continue;
    if (node.value !== undefined && node.value !== value) {
      return malformed(`The parameter ${name} is given more than once.`);
    }
    node.value = value;
  }
  return { kind: 'form', form: root };
}
