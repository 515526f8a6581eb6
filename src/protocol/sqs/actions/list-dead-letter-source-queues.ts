/**
 * ListDeadLetterSourceQueues. Pages like those of ListQueues, but for one thing: in a bucket of many thousands of queues
 * a page may end before MaxResults, even empty, and its NextToken goes on. Without MaxResults there is no token to give;
 * what one call could not look through is then a retryable 503, and the retry goes on where this call stopped.
 */
import type {
  ListDeadLetterSourceQueuesRequest,
  ListDeadLetterSourceQueuesResult,
} from '@aws-sdk/client-sqs';
import { queueDoesNotExist, refusal } from '../errors.ts';
import { pageWanted, tokenOf } from '../paging.ts';
import { queueUrl } from '../queue-url.ts';
import { action, targetQueue } from './action.ts';

const TOO_MANY_QUEUES =
  'There are more queues to look through than one call does. Please try again, or ask for pages with MaxResults.';

export const listDeadLetterSourceQueues = action<
  ListDeadLetterSourceQueuesRequest,
  ListDeadLetterSourceQueuesResult
>({
  shape: { members: { QueueUrl: 'string', NextToken: 'string', MaxResults: 'integer' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const wanted = pageWanted(request.NextToken, request.MaxResults);
    if (wanted.kind === 'refused') return wanted;
    const { startAfter, limit, paged } = wanted;
    const sources = await call.service.deadLetterSources(name, { startAfter, limit });
    if (sources.kind === 'queue-missing') return queueDoesNotExist;
    const { names, resumeAfter, endedEarly } = sources;
    if (endedEarly && !paged) {
      return { ...refusal('ServiceUnavailable', TOO_MANY_QUEUES), retryAfterSeconds: 1 };
    }
    return {
      kind: 'done',
      output: {
        // Unlike that of ListQueues, the member begins with a small letter.
        ...(names.length === 0
          ? {}
          : { queueUrls: names.map((source) => queueUrl(call.baseUrl, call.accountId, source)) }),
        ...(paged && resumeAfter !== undefined ? { NextToken: tokenOf(resumeAfter) } : {}),
      },
    };
  },
});
