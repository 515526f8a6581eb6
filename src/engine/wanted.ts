/** How many messages: what is to be handed out, at least as much as is there, and how many deliveries come of it. */
import type { Command } from '../core/command.ts';
import type { QueueState } from '../core/queue-state.ts';
import { size } from '../core/range-set.ts';

/**
 * About how many messages a batch can hand out: so many parked receives are worth waking. Too high wakes in vain,
 * which costs nothing but time; too low would leave a message waiting, so delays and limits are not looked at.
 */
export function messagesWanted(commands: readonly Command[], state: QueueState, nowMillis: number): number {
  let count = size(state.ready);
  for (const { count: paged } of state.readyPages.values()) count += paged;
  for (const delivery of state.deliveries.values()) if (delivery.visibleAtMillis <= nowMillis) count++;
  for (const { firstVisibleAtMillis, remaining } of state.leasePages.values())
    if (firstVisibleAtMillis <= nowMillis) count += remaining;
  for (const dueAtMillis of state.delayed.values()) if (dueAtMillis <= nowMillis) count++;
  for (const { firstDueAtMillis, count: paged } of state.delayedPages.values())
    if (firstDueAtMillis <= nowMillis) count += paged;
  for (const command of commands) {
    if (command.kind === 'send' || command.kind === 'change-visibility') count += command.entries.length;
    else if (command.kind === 'release') count += command.handles.length;
    else if (command.kind === 'append-moved') count += command.messages.length;
    else if (command.kind === 'return-moves') count += state.intents.size;
  }
  return count;
}

/** Deliveries that it makes or changes at most; what has none any more takes no room. */
export function deliveriesOf(command: Command): number {
  switch (command.kind) {
    case 'receive':
      return command.maxMessages;
    case 'change-visibility':
      return command.entries.length;
    case 'release':
      return command.handles.length;
    default:
      return 0;
  }
}
