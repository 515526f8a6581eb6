/** AWS JSON 1.0 answers. `x-amzn-query-error` is always there: older clients read the legacy code without asking for it. */
import { errorRow, type Refusal } from '../errors.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const CONTENT_TYPE = 'application/x-amz-json-1.0';

export function jsonDone(output: object, requestId: string): JsonAnswer {
  return {
    status: 200,
    headers: { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': requestId },
    body: JSON.stringify(output),
  };
}

export function jsonRefused(refused: Refusal, requestId: string): JsonAnswer {
  const row = errorRow(refused.type);
  const headers: Record<string, string> = {
    'content-type': CONTENT_TYPE,
    'x-amzn-requestid': requestId,
    'x-amzn-query-error': `${row.queryCode};${row.fault}`,
  };
  if (refused.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(refused.retryAfterSeconds)));
  }
  return {
    status: row.status,
    headers,
    body: JSON.stringify({ __type: row.jsonType, message: refused.message }),
  };
}
