/** States as they are with everything their pages hold: what checkers look at. */
import { brokenPages } from '../../src/core/page-invariants.ts';
import { type PageContents, type PageKind, unfolded } from '../../src/core/pages.ts';
import type { PageId, QueueState } from '../../src/core/queue-state.ts';
import { objectKey } from '../../src/format/object-keys.ts';
import { decodePage } from '../../src/format/page-codec.ts';

export class UnreadablePage extends Error {}

export class PagesOfTheBucket {
  readonly #peek: (key: string) => Uint8Array | undefined;
  /** Pages never change. */
  readonly #known = new Map<string, PageContents[PageKind]>();

  constructor(peek: (key: string) => Uint8Array | undefined) {
    this.#peek = peek;
  }

  /** @throws UnreadablePage */
  whole(name: string, state: QueueState): QueueState {
    const read = <K extends PageKind>(kind: K, id: PageId) => this.#read(name, state, kind, id);
    const broken = brokenPages(state, read);
    if (broken !== undefined) throw new UnreadablePage(broken);
    return unfolded(state, read);
  }

  #read<K extends PageKind>(name: string, state: QueueState, kind: K, id: PageId): PageContents[K] {
    const { incarnation } = state;
    const { baseVersion, nonce } = state[`${kind}Pages`].get(id)!;
    const key = objectKey({ name, incarnation, kind, baseVersion, nonce });
    const known = this.#known.get(key);
    if (known) return known as PageContents[K];
    const bytes = this.#peek(key);
    const decoded = bytes && decodePage(kind, bytes, incarnation);
    if (decoded?.kind !== 'ok')
      throw new UnreadablePage(`${key} is named, and ${decoded ? decoded.kind : 'not in the bucket'}`);
    this.#known.set(key, decoded.content);
    return decoded.content;
  }
}
