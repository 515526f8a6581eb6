/** One call on the façade, with every way it can end as a value. */
import { type QueueService, Unavailable } from '../../src/engine/queue-api.ts';
import type { CallAnswer, CallRequest } from './history.ts';

export async function perform(
  service: QueueService,
  request: CallRequest,
  signal: AbortSignal,
): Promise<CallAnswer> {
  try {
    return await dispatch(service, request, signal);
  } catch (error) {
    if (error instanceof Unavailable) return { kind: 'unavailable', reason: error.message };
    return { kind: 'crashed', error };
  }
}

function dispatch(service: QueueService, request: CallRequest, signal: AbortSignal): Promise<CallAnswer> {
  const { queue } = request;
  switch (request.kind) {
    case 'create':
      return service.createQueue(queue, new Map(Object.entries(request.attributes)));
    case 'attributes':
      return service.setQueueAttributes(queue, new Map(Object.entries(request.attributes)));
    case 'delete-queue':
      return service.deleteQueue(queue);
    case 'purge':
      return service.purgeQueue(queue);
    case 'send':
      return service.send(queue, 'AIDASIMULATED', request.entries);
    case 'receive':
      return service.receive(queue, { ...request.request, signal });
    case 'delete':
      return service.deleteMessages(queue, request.handles);
    case 'visibility':
      return service.changeVisibility(queue, request.entries);
    case 'look':
      return service.getQueue(queue);
    case 'start-task':
      return service.startMoveTask(queue, request.request);
    case 'cancel-task':
      return cancelTask(service, queue);
  }
}

async function cancelTask(service: QueueService, queue: string): Promise<CallAnswer> {
  const listed = await service.moveTasks(queue);
  if (listed.kind === 'queue-missing') return listed;
  const [newest] = listed.tasks;
  return newest ? service.cancelMoveTask(queue, newest.id) : { kind: 'no-such-task' };
}
