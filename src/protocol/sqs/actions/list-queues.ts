/** ListQueues. Without MaxResults up to 1000 and never a NextToken; with it, a token only when more remain. */
import type { ListQueuesRequest, ListQueuesResult } from '@aws-sdk/client-sqs';
import { pageWanted, tokenOf } from '../paging.ts';
import { queueUrl } from '../queue-url.ts';
import { action, doneEmpty } from './action.ts';

/** A prefix with any other character is no queue's, and never becomes part of a key. */
const NAME_PREFIX = /^[A-Za-z0-9_.-]{0,80}$/;

export const listQueues = action<ListQueuesRequest, ListQueuesResult>({
  shape: { members: { QueueNamePrefix: 'string', NextToken: 'string', MaxResults: 'integer' } },

  async run(request, call) {
    const { QueueNamePrefix: prefix = '' } = request;
    const wanted = pageWanted(request.NextToken, request.MaxResults);
    if (wanted.kind === 'refused') return wanted;
    if (!NAME_PREFIX.test(prefix)) return doneEmpty;
    const { startAfter, limit, paged } = wanted;
    const list = await call.service.listQueues({ prefix, startAfter, limit });
    const last = list.names.at(-1);
    const more = paged && list.truncated && last !== undefined;
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
