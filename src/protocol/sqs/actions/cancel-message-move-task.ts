/** CancelMessageMoveTask: of a running task only. What has moved has moved; what is on its way arrives. */
import type { CancelMessageMoveTaskRequest, CancelMessageMoveTaskResult } from '@aws-sdk/client-sqs';
import { invalidParameter, missingParameter, refusal } from '../errors.ts';
import { parseTaskHandle, queueOfArn, resourceMissing } from '../move-tasks.ts';
import { action } from './action.ts';

export const cancelMessageMoveTask = action<CancelMessageMoveTaskRequest, CancelMessageMoveTaskResult>({
  shape: { members: { TaskHandle: 'string' } },

  async run(request, call) {
    if (request.TaskHandle === undefined) return missingParameter('TaskHandle');
    const handle = parseTaskHandle(request.TaskHandle);
    const name = handle && queueOfArn('SourceArn', handle.sourceArn, call);
    if (handle === undefined || name === undefined) {
      return invalidParameter('Value for parameter TaskHandle is invalid.');
    }
    if (typeof name !== 'string') return name;
    const outcome = await call.service.cancelMoveTask(name, handle.taskId);
    switch (outcome.kind) {
      case 'cancelled':
        return { kind: 'done', output: { ApproximateNumberOfMessagesMoved: outcome.moved } };
      case 'no-such-task':
        return refusal('ResourceNotFoundException', 'Task does not exist.');
      case 'queue-missing':
        return resourceMissing('SourceArn');
    }
  },
});
