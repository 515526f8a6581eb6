/** StartMessageMoveTask. The task is in the bucket when it is answered; whichever node lives moves its messages. */
import type { StartMessageMoveTaskRequest, StartMessageMoveTaskResult } from '@aws-sdk/client-sqs';
import { queueArn } from '../../../core/queue-arn.ts';
import { invalidParameter } from '../errors.ts';
import { queueOfArn, resourceMissing, taskHandleOf } from '../move-tasks.ts';
import { action } from './action.ts';

const RATE_MAX = 500;

export const startMessageMoveTask = action<StartMessageMoveTaskRequest, StartMessageMoveTaskResult>({
  shape: {
    members: { SourceArn: 'string', DestinationArn: 'string', MaxNumberOfMessagesPerSecond: 'integer' },
  },

  async run(request, call) {
    const { DestinationArn, MaxNumberOfMessagesPerSecond: rate } = request;
    const name = queueOfArn('SourceArn', request.SourceArn, call);
    if (typeof name !== 'string') return name;
    const destination =
      DestinationArn === undefined ? undefined : queueOfArn('DestinationArn', DestinationArn, call);
    if (destination !== undefined && typeof destination !== 'string') return destination;
    if (rate !== undefined && (rate < 1 || rate > RATE_MAX)) {
      return invalidParameter(
        "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
      );
    }
    const outcome = await call.service.startMoveTask(name, { destination, messagesPerSecond: rate });
    switch (outcome.kind) {
      case 'started': {
        const sourceArn = queueArn({ accountId: call.accountId, region: call.region, name });
        return { kind: 'done', output: { TaskHandle: taskHandleOf(outcome.id, sourceArn) } };
      }
      case 'queue-missing':
        return resourceMissing('SourceArn');
      case 'destination-missing':
        return resourceMissing('DestinationArn');
      case 'no-dead-letter-queue':
        return invalidParameter('Source queue must be configured as a Dead Letter Queue.');
      case 'same-queue':
        return invalidParameter('Source queue arn and destination queue arn cannot be the same.');
      case 'other-type':
        return invalidParameter('The source queue and destination queue must be of the same queue type.');
      case 'already-running':
        return invalidParameter(
          'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
        );
    }
  },
});
