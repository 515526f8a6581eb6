/**
 * What the fault proxy does to one request, and how often: a regime gives every kind of fault its own rate for some
 * seconds. Half of the kinds are off in a regime, since faults that are always mixed hide what each does alone. Pure.
 */
import type { SeededRandom } from './random.ts';

export const faultKinds = [
  /** Answered with an error; the store never sees the request. */
  'refused with 503',
  'refused with 500',
  'refused with 429',
  'refused with 409',
  /** The connection breaks before the store sees the request. */
  'request lost',
  /** It breaks in the middle of the body. */
  'write cut off halfway',
  /** The store does what was asked; the client is told otherwise, or nothing. */
  'answer lost',
  'answered 503 though done',
  'answered 500 though done',
  'answered 412 though done',
  'answered 409 though done',
  /** Headers and half of the body come, then nothing until the client gives up. */
  'answer stalled',
  'slow request',
  'slow answer',
  /** Answered, and sent to the store once more later. */
  'write repeated later',
  /** The connection breaks; the write comes to the store later. */
  'write late',
  /** No answer until the client gives up; the write comes to the store after that. */
  'write late, client waits',
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface StoreRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as received: the signature covers them. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

export type Regime = ReadonlyMap<FaultKind, number>;

export const calm: Regime = new Map();

const rateMin = 0.002;
const rateMax = 0.06;
/** These hold a queue up for as long as a node waits for an answer, 10 s: more of them only make less happen. */
const holdingUp: ReadonlySet<FaultKind> = new Set(['answer stalled', 'write late, client waits']);
const holdingUpRateMax = 0.004;

export function drawRegime(random: SeededRandom): Regime {
  const regime = new Map<FaultKind, number>();
  for (const kind of faultKinds) {
    const on = random.chance(0.5);
    const rate = rateMin * (rateMax / rateMin) ** random.unit();
    if (on) regime.set(kind, holdingUp.has(kind) ? Math.min(rate, holdingUpRateMax) : rate);
  }
  return regime;
}

export function isWrite({ method }: StoreRequest): boolean {
  return method === 'PUT' || method === 'DELETE';
}

export function isConditional({ method, rawHeaders }: StoreRequest): boolean {
  if (method !== 'PUT' && method !== 'DELETE') return false;
  return rawHeaders.some((name, index) => index % 2 === 0 && /^if-(none-)?match$/i.test(name));
}

/** A 409 or 412 proves nothing only where a condition was asked for; elsewhere no store sends one. */
function applies(kind: FaultKind, request: StoreRequest): boolean {
  if (/409|412/.test(kind)) return isConditional(request);
  if (kind.startsWith('write') || kind.endsWith('though done')) return isWrite(request);
  return true;
}

export function drawFault(
  regime: Regime,
  request: StoreRequest,
  random: SeededRandom,
): FaultKind | undefined {
  let draw = random.unit();
  for (const [kind, rate] of regime) {
    if (!applies(kind, request)) continue;
    draw -= rate;
    if (draw < 0) return kind;
  }
  return undefined;
}

/** Mostly soon, at times long after everybody has moved on. A signature would hold for 15 minutes. */
export const lateMillisMax = 40_000;
export function drawLateness(random: SeededRandom): number {
  const shortest = 30;
  return shortest * (lateMillisMax / shortest) ** random.unit();
}

const codes: Readonly<Record<number, string>> = {
  409: 'ConditionalRequestConflict',
  412: 'PreconditionFailed',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'SlowDown',
};

/** The status that a fault answers with. */
export function statusOf(kind: FaultKind): number {
  return Number(/\d{3}/.exec(kind)?.[0]);
}

export function errorBody(status: number): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${codes[status]}</Code><Message>by the fault proxy</Message></Error>`;
}
