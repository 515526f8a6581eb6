/** DeleteMessage: answered once the delete is durable; a repeat, or a superseded handle of a standard queue, is answered the same. */
import type { DeleteMessageRequest } from '@aws-sdk/client-sqs';
import { deletionRefusal } from '../deletion.ts';
import { missingParameter, queueDoesNotExist } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const deleteMessage = action<DeleteMessageRequest, object>({
  shape: { members: { QueueUrl: 'string', ReceiptHandle: 'string' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const { ReceiptHandle: receiptHandle } = request;
    if (receiptHandle === undefined || receiptHandle === '') return missingParameter('ReceiptHandle');
    const outcome = await call.service.deleteMessages(name, [receiptHandle]);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    const [entry] = outcome.entries;
    if (entry === undefined) throw new Error('a delete of one message answered for none');
    return deletionRefusal(receiptHandle, entry) ?? doneEmpty;
  },
});
