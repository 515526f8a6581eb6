/** GetQueueAttributes: the stored attributes, the computed ones, and the three counts as of the last commit. */
import type { GetQueueAttributesRequest, GetQueueAttributesResult } from '@aws-sdk/client-sqs';
import { isFifoName, queueArn } from '../../../core/queue-arn.ts';
import { isAttributeName } from '../../../core/queue-attributes.ts';
import type { QueueSnapshot } from '../../../engine/queue-api.ts';
import { queueDoesNotExist, refusal } from '../errors.ts';
import { type ActionCall, action, targetQueue } from './action.ts';

function seconds(millis: number): string {
  return String(Math.floor(millis / 1000));
}

function allAttributes(queue: QueueSnapshot, call: ActionCall): ReadonlyMap<string, string> {
  const { accountId, region } = call;
  return new Map([
    ['QueueArn', queueArn({ accountId, region, name: queue.name })],
    ['ApproximateNumberOfMessages', String(queue.visibleCount)],
    ['ApproximateNumberOfMessagesNotVisible', String(queue.inFlightCount)],
    ['ApproximateNumberOfMessagesDelayed', String(queue.delayedCount)],
    ['CreatedTimestamp', seconds(queue.createdAtMillis)],
    ['LastModifiedTimestamp', seconds(queue.modifiedAtMillis)],
    ...queue.attributes,
  ]);
}

export const getQueueAttributes = action<GetQueueAttributesRequest, GetQueueAttributesResult>({
  shape: { members: { QueueUrl: 'string', AttributeNames: { list: 'string' } } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const wanted: readonly string[] = request.AttributeNames ?? [];
    for (const attribute of wanted) {
      if (attribute !== 'All' && !isAttributeName(attribute, isFifoName(name))) {
        return refusal('InvalidAttributeName', `Unknown Attribute ${attribute}.`);
      }
    }
    const queue = await call.service.getQueue(name);
    if (queue.kind === 'queue-missing') return queueDoesNotExist;
    const all = allAttributes(queue, call);
    const shown = wanted.includes('All') ? all : [...all].filter(([attribute]) => wanted.includes(attribute));
    const attributes = Object.fromEntries(shown);
    return {
      kind: 'done',
      output: Object.keys(attributes).length === 0 ? {} : { Attributes: attributes },
    };
  },
});
