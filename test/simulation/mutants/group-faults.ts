/** Faults of FIFO queues: order and locks of groups, deduplication, handles (docs/design/0007-fifo.md). */
import type { Mutant } from './mutant.ts';
import { deletes, purge, send } from './spoiled-files.ts';

const deduplication = 'src/core/deduplication.ts';
const locks = 'src/core/group-locks.ts';
const order = 'src/core/fifo-order.ts';
const receive = 'src/core/fifo-receive.ts';
const walk = 'src/core/fifo-walk.ts';

const faults: readonly Omit<Mutant, 'focus'>[] = [
  {
    name: 'a-locked-group-is-handed-out',
    breaks: 'behind a message that is in flight nothing of its group may be received',
    patches: [{ file: locks, text: 'return lowest < sequence;', by: 'return lowest < 0 && sequence < 0;' }],
  },
  {
    name: 'a-group-is-locked-in-the-manifest-alone',
    breaks: 'a group may be locked in any lease page',
    patches: [
      {
        file: locks,
        text: '    for (const page of this.pages)\n      lowest = Math.min(lowest, page.lowestInFlight(group, this.#nowMillis) ?? unlocked);\n',
        by: '',
      },
    ],
  },
  {
    name: 'an-unreadable-lease-page-locks-nothing',
    breaks: 'a lease page that cannot be read may lock every group behind its first message',
    patches: [
      {
        file: locks,
        text: 'else unreadableFrom = Math.min(unreadableFrom, page.firstSequence);',
        by: 'else unreadableFrom = Math.max(unreadableFrom, page.firstSequence);',
      },
    ],
  },
  {
    name: 'an-intent-locks-no-group',
    breaks: 'a group stays locked until its letter is in the dead-letter queue',
    patches: [
      {
        file: locks,
        text: '    for (const [sequence, { group }] of draft.intents.current)\n      if (group !== undefined) lower(this.#inManifest, group, sequence);\n',
        by: '',
      },
    ],
  },
  {
    name: 'a-receive-goes-on-behind-its-own-letter',
    breaks: 'a group is locked by the letter that this very receive has found',
    patches: [
      {
        file: receive,
        text: 'intend(draft, place.found, verdict);\n      this.#locks.lock(group, sequence);',
        by: 'intend(draft, place.found, verdict);',
      },
    ],
  },
  {
    name: 'two-receives-of-a-commit-share-a-group',
    breaks: 'what one receive took locks its group for the next of the same commit',
    patches: [
      {
        file: receive,
        text: 'for (const { group, sequence } of this.#taken) this.#locks.lock(group, sequence);',
        by: '',
      },
    ],
  },
  {
    name: 'a-receive-goes-on-behind-what-it-passed-over',
    breaks: 'a body that cannot be read, or a letter that waits for its queue, locks its group',
    patches: [
      {
        file: receive,
        text: "if (body === 'unreadable') this.#unreadable = true;\n      this.#locks.lock(group, sequence);",
        by: "if (body === 'unreadable') this.#unreadable = true;",
      },
    ],
  },
  {
    name: 'a-message-of-an-unknown-group-is-passed-over',
    breaks: 'a message whose group cannot be read ends the walk',
    patches: [
      {
        file: order,
        text: 'this.unreadable = true;\n      this.#atEnd = true;',
        by: 'this.unreadable = true;',
      },
    ],
  },
  {
    name: 'a-page-of-ready-messages-is-passed-over',
    breaks: 'a page that cannot be read ends the walk',
    patches: [
      { file: walk, text: 'this.#stopBefore(firstSequence, true);\n    return true;', by: 'return true;' },
    ],
  },
  {
    name: 'what-was-given-back-goes-to-the-end',
    breaks: 'a message that was given back or expired is the first of its group again',
    patches: [
      {
        file: walk,
        text: 'if (source.head < (first?.head ?? end)) first = source;',
        by: 'if (source.head < end) first = source;',
      },
    ],
  },
  {
    name: 'a-receive-takes-of-one-group-alone',
    breaks: 'a receive goes on to other groups when one has no more',
    patches: [
      {
        file: order,
        text: '      this.#group = undefined;\n    }\n  }\n',
        by: '      return undefined;\n    }\n  }\n',
      },
    ],
  },
  {
    name: 'ids-in-pages-are-not-looked-for',
    breaks: 'whether an id is new cannot be told without the pages of ids',
    patches: [
      { file: deduplication, text: 'this.#contents ??= this.#read();', by: 'this.#contents ??= [];' },
    ],
  },
  {
    name: 'an-unreadable-page-of-ids-has-none',
    breaks: 'a send waits while a page that may have its id cannot be read',
    patches: [{ file: deduplication, text: 'else this.#unknown = true;', by: 'else this.#unknown = false;' }],
  },
  {
    name: 'a-page-of-ids-is-used-unseen-after-a-conflict',
    breaks: 'after a conflict a page may be reused only if all it covers is unchanged',
    patches: [{ file: deduplication, text: 'if (!stillTrue(draft, content)) continue;', by: '' }],
  },
  {
    name: 'ids-have-no-scope',
    breaks: 'in the scope messageGroup an id is one of its group',
    patches: [
      {
        file: deduplication,
        text: "deduplicationScope === 'messageGroup' ? `",
        by: 'deduplicationScope.length === 0 ? `',
      },
    ],
  },
  {
    name: 'ids-are-free-too-early',
    breaks: 'an id is taken for five minutes',
    patches: [
      {
        file: deduplication,
        text: 'return acceptedAtMillis + DEDUPLICATION_MILLIS <= manifestMillis;',
        by: 'return acceptedAtMillis + DEDUPLICATION_MILLIS / 10 <= manifestMillis;',
      },
    ],
  },
  {
    name: 'ids-are-never-free',
    breaks: 'an id is taken for five minutes',
    patches: [
      {
        file: deduplication,
        text: 'return acceptedAtMillis + DEDUPLICATION_MILLIS <= manifestMillis;',
        by: 'return acceptedAtMillis + 10 * DEDUPLICATION_MILLIS <= manifestMillis;',
      },
    ],
  },
  {
    name: 'a-purge-keeps-ids',
    breaks: 'what was purged can be sent again',
    patches: [
      {
        file: purge,
        text: '  for (const key of draft.deduplication.current.keys()) draft.deduplication.delete(key);\n',
        by: '',
      },
    ],
  },
  {
    name: 'a-purge-keeps-pages-of-ids',
    breaks: 'what was purged can be sent again',
    patches: [
      {
        file: purge,
        text: '  for (const id of draft.deduplicationPages.current.keys()) draft.deduplicationPages.delete(id);\n',
        by: '',
      },
    ],
  },
  {
    name: 'a-duplicate-gets-an-id-of-its-own',
    breaks: "a duplicate is answered with the first one's id and sequence number",
    patches: [{ file: send, text: 'messageId: first.messageId,', by: 'messageId: message.messageId,' }],
  },
  {
    name: 'an-accepted-id-is-not-kept',
    breaks: 'an id is taken once, also within one commit',
    patches: [
      {
        file: send,
        text: '    taken.take(key!, { sequence, messageId: message.messageId, acceptedAtMillis });\n',
        by: '    if (effect) taken.take(key!, { sequence, messageId: message.messageId, acceptedAtMillis });\n',
      },
    ],
  },
  {
    name: 'an-expired-handle-deletes',
    breaks: 'a handle whose visibility timeout is over is refused',
    patches: [
      {
        file: deletes,
        text: "return held.delivery.visibleAtMillis > draft.time.nowMillis ? held : 'expired';",
        by: 'return held;',
      },
    ],
  },
  {
    name: 'an-older-handle-is-done',
    breaks: 'a handle that was superseded is refused while its message is there',
    patches: [
      { file: deletes, text: "return isAlive(draft, handle) ? 'expired' : 'void';", by: "return 'void';" },
    ],
  },
  {
    name: 'uncommitted-expiry-is-told-of-an-older-handle',
    breaks: 'an outcome that rests on retention stands once it is swapped in (seed groups-3)',
    patches: [
      { file: deletes, text: '(draft.resolved.fifo !== undefined && before !== undefined)', by: 'false' },
    ],
  },
];

/** In other weather there are no FIFO queues. */
export const groupFaults: readonly Mutant[] = faults.map((fault) => ({ ...fault, focus: 'groups' }));
