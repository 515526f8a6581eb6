/**
 * Pages of queues by name. A token is the last name that was looked at, in base64: any node can go on from it, and it
 * stays good when queues come and go.
 */
import { isQueueName } from '../../core/queue-arn.ts';
import { base64FromBytes, bytesFromBase64 } from './base64.ts';
import { invalidParameter, type Refusal } from './errors.ts';

/** Also what an answer holds when no MaxResults is given. */
export const RESULTS_MAX = 1_000;

export interface PageWanted {
  readonly kind: 'page';
  readonly startAfter: string | undefined;
  readonly limit: number;
  /** Only who gives MaxResults is given tokens. */
  readonly paged: boolean;
}

export function pageWanted(token: string | undefined, maxResults: number | undefined): PageWanted | Refusal {
  if (maxResults !== undefined && (maxResults < 1 || maxResults > RESULTS_MAX)) {
    return invalidParameter(
      'Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.',
    );
  }
  const startAfter = token === undefined ? undefined : nameOfToken(token);
  if (token !== undefined && startAfter === undefined) {
    return invalidParameter('Invalid or expired next token.');
  }
  return { kind: 'page', startAfter, limit: maxResults ?? RESULTS_MAX, paged: maxResults !== undefined };
}

export function tokenOf(name: string): string {
  return base64FromBytes(new TextEncoder().encode(name));
}

function nameOfToken(token: string): string | undefined {
  const bytes = bytesFromBase64(token);
  const name = bytes === undefined ? '' : new TextDecoder().decode(bytes);
  return isQueueName(name) ? name : undefined;
}
