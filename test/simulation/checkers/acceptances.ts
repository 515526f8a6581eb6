/** Which messages took which deduplication ids, by what landed. Kept by deduplication.ts; others look things up. */
import type { Incarnation } from '../../../src/core/ids.ts';

export interface Acceptance {
  readonly incarnation: Incarnation;
  readonly sequence: number;
  readonly messageId: string;
  readonly id: string;
  readonly groupId: string | undefined;
  readonly scope: 'queue' | 'messageGroup';
  /** As the manifest counts it. */
  readonly acceptedAtMillis: number;
  /** When its send reached a node. */
  readonly arrivedAt: number;
  readonly node: number;
}

export class Acceptances {
  readonly byMessageId = new Map<string, Acceptance>();
  /** The latest, by incarnation, scope and id. */
  readonly #taken = new Map<Incarnation, Map<string, Acceptance>>();

  latest(like: Acceptance): Acceptance | undefined {
    return this.#taken.get(like.incarnation)?.get(keyOf(like));
  }

  add(acceptance: Acceptance): void {
    const taken = this.#taken.get(acceptance.incarnation) ?? new Map<string, Acceptance>();
    this.#taken.set(acceptance.incarnation, taken);
    taken.set(keyOf(acceptance), acceptance);
    this.byMessageId.set(acceptance.messageId, acceptance);
  }

  /** A purge. */
  forget(incarnation: Incarnation): void {
    this.#taken.delete(incarnation);
  }
}

function keyOf({ scope, groupId, id }: Acceptance): string {
  return scope === 'queue' ? `queue ${id}` : `group ${groupId} ${id}`;
}
