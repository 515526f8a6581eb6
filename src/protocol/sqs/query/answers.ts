/**
 * Answers of the query protocol: XML in the namespace of 2012-11-05, members in the order the action gave them, which is
 * that of AWS's model; lists and maps flattened.
 *
 * Line ends are written as references, which is what AWS does: a parser would read a raw carriage return as a newline,
 * and not every client keeps newlines at the edges of a text. What XML cannot hold (it can only come from names and
 * values that were set over JSON) becomes U+FFFD, so that an answer can always be read.
 */
import { XMLBuilder } from 'fast-xml-parser';
import { replaceForbidden } from '../content-characters.ts';
import { errorRow, type Refusal } from '../errors.ts';
import { retryAfter, type WireAnswer } from '../wire-answer.ts';
import { listEntryName, mapNames } from './names.ts';

type Xml = string | readonly Xml[] | { readonly [element: string]: Xml };

const NAMESPACE = 'http://queue.amazonaws.com/doc/2012-11-05/';
const CONTENT_TYPE = 'text/xml';

/** By AWS's model these answer without a Result element. */
const WITHOUT_RESULT: ReadonlySet<string> = new Set([
  'AddPermission',
  'ChangeMessageVisibility',
  'DeleteMessage',
  'DeleteQueue',
  'PurgeQueue',
  'RemovePermission',
  'SetQueueAttributes',
  'TagQueue',
  'UntagQueue',
]);

/** Ampersands first. */
const ESCAPES: readonly (readonly [character: string, reference: string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ['\r', '&#xd;'],
  ['\n', '&#xa;'],
];

/** Character by character in the engine's own code: a callback for each took ten megabytes of newlines half a second. */
function escapeText(text: string): string {
  let escaped = replaceForbidden(text);
  for (const [character, reference] of ESCAPES) escaped = escaped.replaceAll(character, reference);
  return escaped;
}

const builder = new XMLBuilder({
  ignoreAttributes: false,
  suppressEmptyNode: true,
  // Its own escapes leave line ends as they are.
  processEntities: false,
  tagValueProcessor: (_element, text) => escapeText(String(text)),
});

function document(root: string, content: { readonly [element: string]: Xml }): string {
  return builder.build({ '?xml': { '@_version': '1.0' }, [root]: { '@_xmlns': NAMESPACE, ...content } });
}

/** Elements are named by our tables alone; text of a caller is only ever the content of one. */
function elementsOf(action: string, output: object): { readonly [element: string]: Xml } {
  const elements: Record<string, Xml> = {};
  for (const [member, value] of Object.entries(output) as (readonly [string, unknown])[]) {
    if (value === undefined) continue;
    const map = mapNames(member);
    if (map !== undefined) {
      elements[map.entry] = Object.entries(value as object).map(([key, item]) => ({
        [map.key]: xmlOf(action, key),
        [map.value]: xmlOf(action, item),
      }));
    } else if (Array.isArray(value)) {
      const name = listEntryName(action, member);
      if (name === undefined) throw new Error(`a list without a name in the query protocol: ${member}`);
      elements[name] = value.map((item) => xmlOf(action, item));
    } else {
      elements[member] = xmlOf(action, value);
    }
  }
  return elements;
}

function xmlOf(action: string, value: unknown): Xml {
  return typeof value === 'object' && value !== null ? elementsOf(action, value) : String(value);
}

function headers(requestId: string): Readonly<Record<string, string>> {
  return { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': requestId };
}

export function queryDone(action: string, output: object, requestId: string): WireAnswer {
  return {
    status: 200,
    headers: headers(requestId),
    body: document(`${action}Response`, {
      ...(WITHOUT_RESULT.has(action) ? {} : { [`${action}Result`]: elementsOf(action, output) }),
      ResponseMetadata: { RequestId: requestId },
    }),
  };
}

/** In XML alone AWS speaks of the wsdl, and clients compare the text. */
function messageOf({ type, message }: Refusal): string {
  return type === 'QueueDoesNotExist' ? message.replace(/\.$/, ' for this wsdl version.') : message;
}

export function queryRefused(refused: Refusal, requestId: string): WireAnswer {
  const { status, queryCode, fault } = errorRow(refused.type);
  return {
    status,
    headers: { ...headers(requestId), ...retryAfter(refused) },
    body:
      refused.type === 'UnknownOperationException'
        ? '<UnknownOperationException/>'
        : document('ErrorResponse', {
            Error: {
              Type: fault,
              Code: queryCode,
              Message: messageOf(refused),
              Detail: '',
            },
            RequestId: requestId,
          }),
  };
}
