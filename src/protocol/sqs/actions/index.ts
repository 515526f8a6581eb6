/** The actions okuri has, by name; any other is an UnsupportedOperation, or an InvalidAction in XML. */
import type { Action } from './action.ts';
import { addPermission } from './add-permission.ts';
import { cancelMessageMoveTask } from './cancel-message-move-task.ts';
import { changeMessageVisibility } from './change-message-visibility.ts';
import { changeMessageVisibilityBatch } from './change-message-visibility-batch.ts';
import { createQueue } from './create-queue.ts';
import { deleteMessage } from './delete-message.ts';
import { deleteMessageBatch } from './delete-message-batch.ts';
import { deleteQueue } from './delete-queue.ts';
import { getQueueAttributes } from './get-queue-attributes.ts';
import { getQueueUrl } from './get-queue-url.ts';
import { listDeadLetterSourceQueues } from './list-dead-letter-source-queues.ts';
import { listMessageMoveTasks } from './list-message-move-tasks.ts';
import { listQueueTags } from './list-queue-tags.ts';
import { listQueues } from './list-queues.ts';
import { purgeQueue } from './purge-queue.ts';
import { receiveMessage } from './receive-message.ts';
import { removePermission } from './remove-permission.ts';
import { sendMessage } from './send-message.ts';
import { sendMessageBatch } from './send-message-batch.ts';
import { setQueueAttributes } from './set-queue-attributes.ts';
import { startMessageMoveTask } from './start-message-move-task.ts';
import { tagQueue } from './tag-queue.ts';
import { untagQueue } from './untag-queue.ts';

export const actions: ReadonlyMap<string, Action> = new Map([
  ['CreateQueue', createQueue],
  ['GetQueueUrl', getQueueUrl],
  ['ListQueues', listQueues],
  ['DeleteQueue', deleteQueue],
  ['PurgeQueue', purgeQueue],
  ['GetQueueAttributes', getQueueAttributes],
  ['SetQueueAttributes', setQueueAttributes],
  ['TagQueue', tagQueue],
  ['UntagQueue', untagQueue],
  ['ListQueueTags', listQueueTags],
  ['AddPermission', addPermission],
  ['RemovePermission', removePermission],
  ['ListDeadLetterSourceQueues', listDeadLetterSourceQueues],
  ['StartMessageMoveTask', startMessageMoveTask],
  ['ListMessageMoveTasks', listMessageMoveTasks],
  ['CancelMessageMoveTask', cancelMessageMoveTask],
  ['SendMessage', sendMessage],
  ['SendMessageBatch', sendMessageBatch],
  ['ReceiveMessage', receiveMessage],
  ['DeleteMessage', deleteMessage],
  ['DeleteMessageBatch', deleteMessageBatch],
  ['ChangeMessageVisibility', changeMessageVisibility],
  ['ChangeMessageVisibilityBatch', changeMessageVisibilityBatch],
]);
