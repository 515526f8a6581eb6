/**
 * Calls and answers as a trace shows them. What a handle is used for must be found by searching for its message, so a
 * handle reads as the receive that gave it out does: message and number of its delivery.
 */
import type { SendEntry } from '../../src/engine/queue-api.ts';
import type { CallAnswer, CallRequest, Reply } from './history.ts';
import { markerOf } from './ledger.ts';

export class CallDescriber {
  /** By receipt handle. */
  readonly #deliveries = new Map<string, string>();

  request(request: CallRequest): string {
    const { kind, queue } = request;
    switch (kind) {
      case 'send':
        return `send ${queue} ${request.entries.map(entryOf).join(' ')}`;
      case 'receive': {
        const { maxMessages, waitSeconds, visibilityTimeoutSeconds } = request.request;
        return `receive ${queue} max ${maxMessages} wait ${waitSeconds ?? 'default'} visibility ${visibilityTimeoutSeconds ?? 'default'}`;
      }
      case 'delete':
        return `delete ${queue} ${request.handles.map((handle) => this.#delivery(handle)).join(' ')}`;
      case 'visibility': {
        const entries = request.entries.map(
          (entry) => `${this.#delivery(entry.receiptHandle)} for ${entry.visibilityTimeoutSeconds} s`,
        );
        return `visibility ${queue} ${entries.join(', ')}`;
      }
      case 'create':
      case 'attributes':
        return `${kind} ${queue} ${JSON.stringify(request.attributes)}`;
      default:
        return `${kind} ${queue}`;
    }
  }

  reply(reply: Reply): string {
    return reply.kind === 'lost' ? 'lost' : this.#answer(reply.answer);
  }

  #answer(answer: CallAnswer): string {
    if (answer.kind === 'unavailable') return `unavailable: ${answer.reason}`;
    if (answer.kind !== 'done') return answer.kind;
    if (!('messages' in answer))
      return 'entries' in answer ? answer.entries.map(({ kind }) => kind).join(' ') : 'done';
    const deliveries = answer.messages.map(({ message, receiptHandle, receiveCount }) => {
      const delivery = `${markerOf(message.body)}#${receiveCount}`;
      this.#deliveries.set(receiptHandle, delivery);
      return delivery;
    });
    return `received ${deliveries.join(' ') || 'nothing'}`;
  }

  #delivery(handle: string): string {
    return this.#deliveries.get(handle) ?? 'unheard-of';
  }
}

function entryOf({ content, deduplication }: SendEntry): string {
  const marker = markerOf(content.body);
  if (!deduplication) return marker;
  const id = deduplication.explicitId ?? `hash:${deduplication.bodyHash.slice(0, 8)}`;
  return `${marker}(${content.groupId}, ${id})`;
}
