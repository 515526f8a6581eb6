/**
 * A recorded session: what one client sent and what it was answered, one exchange a line of JSON. Bodies are text as
 * it went over the wire; no client of ours sends bytes that are none.
 */
import { readFileSync } from 'node:fs';

export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** `Name: value`, in the order and the case they were sent in. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly request: Request;
  readonly answer: Answer;
}

export function parseSession(text: string): readonly Exchange[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange);
}

export const readSession = (file: URL | string): readonly Exchange[] =>
  parseSession(readFileSync(file, 'utf8'));

export const writtenSession = (exchanges: readonly Exchange[]): string =>
  exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join('');

export const sentBytes = ({ body }: Request): Uint8Array => new TextEncoder().encode(body);

/** Lower-case names, as a listener hands them on. */
export const headersOf = ({ headers }: Request): readonly (readonly [name: string, value: string])[] =>
  headers.map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
  });

const headerOf = (request: Request, wanted: string): string | undefined =>
  headersOf(request).find(([name]) => name === wanted)?.[1];

/** When the client signed it, milliseconds since the epoch. @throws Error for a request without a signature. */
export function requestTime(request: Request): number {
  const { target } = request;
  const query = new URL(target, 'http://localhost').searchParams;
  const stamp = headerOf(request, 'x-amz-date') ?? query.get('X-Amz-Date') ?? '';
  const [, year, month, day, hour, minute, second] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(stamp) ?? [];
  if (second === undefined) throw new Error(`no time of signing in ${target}`);
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** The action a request names, or what stands for it. */
export function actionOf(request: Request): string {
  const named = headerOf(request, 'x-amz-target');
  if (named !== undefined) return named.replace('AmazonSQS.', '');
  const query = new URL(request.target, 'http://localhost').searchParams;
  return query.get('Action') ?? new URLSearchParams(request.body).get('Action') ?? 'no action';
}
