/**
 * ListQueues. Without MaxResults up to 1000 and never a NextToken; with it, a token only when more remain. A token is
 * the last name shown, in base64: any node can go on from it, and it stays good when queues come and go.
 */
import type { ListQueuesRequest, ListQueuesResult } from '@aws-sdk/client-sqs';
import { isQueueName } from '../../../core/queue-arn.ts';
import { base64FromBytes, bytesFromBase64 } from '../base64.ts';
import { invalidParameter } from '../errors.ts';
import { queueUrl } from '../queue-url.ts';
import { action, doneEmpty } from './action.ts';

const RESULTS_MAX = 1_000;

/** A prefix with any other character is no queue's, and never becomes part of a key. */
const NAME_PREFIX = /^[A-Za-z0-9_.-]{0,80}$/;

function tokenOf(name: string): string {
  return base64FromBytes(new TextEncoder().encode(name));
}

function nameOfToken(token: string): string | undefined {
  const bytes = bytesFromBase64(token);
  const name = bytes === undefined ? '' : new TextDecoder().decode(bytes);
  return isQueueName(name) ? name : undefined;
}

export const listQueues = action<ListQueuesRequest, ListQueuesResult>({
  shape: { members: { QueueNamePrefix: 'string', NextToken: 'string', MaxResults: 'integer' } },

  async run(request, call) {
    const { QueueNamePrefix: prefix = '', NextToken: token, MaxResults: maxResults } = request;
    if (maxResults !== undefined && (maxResults < 1 || maxResults > RESULTS_MAX)) {
      return invalidParameter(
        'Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.',
      );
    }
    const startAfter = token === undefined ? undefined : nameOfToken(token);
    if (token !== undefined && startAfter === undefined) {
      return invalidParameter('Invalid or expired next token.');
    }
    if (!NAME_PREFIX.test(prefix)) return doneEmpty;
    const list = await call.service.listQueues({ prefix, startAfter, limit: maxResults ?? RESULTS_MAX });
    const last = list.names.at(-1);
    const more = maxResults !== undefined && list.truncated && last !== undefined;
    return {
      kind: 'done',
      output: {
        ...(list.names.length === 0
          ? {}
          : { QueueUrls: list.names.map((name) => queueUrl(call.baseUrl, call.accountId, name)) }),
        ...(more ? { NextToken: tokenOf(last) } : {}),
      },
    };
  },
});
