/** A message of the reference model, in one place at a time. */

export type ModelPlace =
  | { readonly kind: 'ready' }
  | { readonly kind: 'delayed'; readonly dueAt: number }
  | {
      readonly kind: 'delivered';
      /** Rises with every lease: stands for the token. */
      readonly lease: number;
      readonly visibleAt: number;
      readonly leasedAt: number;
      readonly count: number;
      /** Of those, in queues that it came from. */
      readonly elsewhere: number;
      readonly firstAt: number;
    }
  | {
      readonly kind: 'moving';
      readonly target: string;
      readonly number: number;
      readonly count: number;
      readonly elsewhere: number;
      readonly firstAt: number;
    };

export type Delivered = ModelPlace & { readonly kind: 'delivered' };

export interface ModelMessage {
  readonly sequence: number;
  readonly id: string;
  readonly body: string;
  readonly bytes: number;
  readonly deadLetterSource: string | undefined;
  readonly group: string | undefined;
  /** Called so at its send, while it waits. */
  quiet: boolean;
  sentAt: number;
  place: ModelPlace;
  /** In a segment rather than inline; which one is told by `settle`. */
  spilled: boolean;
  segment: string | undefined;
}

/** Of a delivery that no client has a handle for. */
export const noLease = -1;

export function holds(place: ModelPlace, lease: number): boolean {
  return place.kind === 'delivered' && place.lease === lease && lease !== noLease;
}

/** Visible at once, and no client has a handle for it. */
export function deliveredBefore(
  before: Pick<Delivered, 'count' | 'elsewhere' | 'firstAt'>,
  now: number,
): Delivered {
  const { count, elsewhere, firstAt } = before;
  return { kind: 'delivered', lease: noLease, visibleAt: now, leasedAt: now, count, elsewhere, firstAt };
}
