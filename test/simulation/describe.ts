/** Calls and answers as a trace shows them. */
import type { CallRequest, Reply } from './history.ts';

export function describeRequest(request: CallRequest): string {
  switch (request.kind) {
    case 'send': {
      const bodies = request.entries.map(({ content }) => content.body.slice(0, content.body.indexOf('|')));
      return `send ${request.queue} ${bodies.join(' ')}`;
    }
    case 'receive': {
      const { maxMessages, waitSeconds, visibilityTimeoutSeconds } = request.request;
      return `receive ${request.queue} max ${maxMessages} wait ${waitSeconds} visibility ${visibilityTimeoutSeconds}`;
    }
    case 'delete':
      return `delete ${request.queue} ${request.handles.length} handles`;
    case 'visibility':
      return `visibility ${request.queue} ${request.entries.map((entry) => entry.visibilityTimeoutSeconds).join(' ')}`;
    case 'create':
    case 'attributes':
      return `${request.kind} ${request.queue} ${JSON.stringify(request.attributes)}`;
    default:
      return `${request.kind} ${request.queue}`;
  }
}

export function describeReply(reply: Reply): string {
  if (reply.kind === 'lost') return 'lost';
  const { answer } = reply;
  if (answer.kind === 'unavailable') return `unavailable: ${answer.reason}`;
  if (answer.kind !== 'done') return answer.kind;
  if ('messages' in answer)
    return `received ${answer.messages.map(({ message, receiveCount }) => `${message.body.slice(0, message.body.indexOf('|'))}#${receiveCount}`).join(' ')}`;
  return 'entries' in answer ? answer.entries.map(({ kind }) => kind).join(' ') : 'done';
}
