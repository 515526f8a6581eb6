/**
 * What an answer says apart from what may differ between two right answers: ids, receipt handles and times. Each gets
 * the number of its first appearance in the session, so that an answer still says which message it is about.
 */
import type { Answer } from './session.ts';

/** Whatever a client may rely on; a listener adds length and date. */
const HEADERS = ['content-type', 'x-amzn-query-error', 'retry-after'];

const MASKS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['handle', /(?<="ReceiptHandle":")[^"]+/g],
  ['handle', /(?<=<ReceiptHandle>)[^<]+/g],
  ['handle', /(?<=Value )[A-Za-z0-9+/]{40,}=*(?= for parameter ReceiptHandle)/g],
  ['task', /(?<="TaskHandle":")[^"]+/g],
  ['request', /(?<=<RequestId>)[^<]+/g],
  ['id', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ['time', /(?<="(?:\w+Timestamp)":")\d+/g],
  ['time', /(?<=<Name>\w+Timestamp<\/Name><Value>)\d+/g],
  ['time', /(?<="\w+Timestamp":)\d+/g],
  ['time', /\b\d{8}T\d{6}Z\b/g],
];

/** For one session, answer after answer. */
export function masking(): (answer: Answer) => Answer {
  const numbers = new Map<string, Map<string, number>>();
  const numberOf = (kind: string, value: string): string => {
    const known = numbers.get(kind) ?? new Map<string, number>();
    numbers.set(kind, known);
    if (!known.has(value)) known.set(value, known.size + 1);
    // Two answers of one instant are of one instant by chance.
    return kind === 'time' ? 'time' : `${kind} ${known.get(value)}`;
  };
  return ({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(
      HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    ),
    body: MASKS.reduce(
      (text, [kind, pattern]) => text.replace(pattern, (value) => `[${numberOf(kind, value)}]`),
      body,
    ),
  });
}

/** The receipt and task handles of an answer. */
export const handlesOf = ({ body }: Answer): readonly string[] =>
  [...body.matchAll(/"(?:Receipt|Task)Handle":"([^"]+)"|<ReceiptHandle>([^<]+)</g)].map(
    ([, json, xml]) => json ?? xml ?? '',
  );
