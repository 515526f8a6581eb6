/** AWS JSON 1.0 answers. `x-amzn-query-error` is always there: older clients read the legacy code without asking for it. */
import { errorRow, type Refusal } from '../errors.ts';
import { retryAfter, type WireAnswer } from '../wire-answer.ts';

const CONTENT_TYPE = 'application/x-amz-json-1.0';

export function jsonDone(output: object, requestId: string): WireAnswer {
  return {
    status: 200,
    headers: { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': requestId },
    body: JSON.stringify(output),
  };
}

export function jsonRefused(refused: Refusal, requestId: string): WireAnswer {
  const row = errorRow(refused.type);
  return {
    status: row.status,
    headers: {
      'content-type': CONTENT_TYPE,
      'x-amzn-requestid': requestId,
      'x-amzn-query-error': `${row.queryCode};${row.fault}`,
      ...retryAfter(refused),
    },
    body: JSON.stringify({ __type: row.jsonType, message: refused.message }),
  };
}
