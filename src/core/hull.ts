/** From the first to the last sequence number of something, what lies between included. */
export interface Hull {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export function overlap(a: Hull, b: Hull): boolean {
  return a.firstSequence <= b.lastSequence && b.firstSequence <= a.lastSequence;
}

/** Whether it has any of [start, end). */
export function reaches({ firstSequence, lastSequence }: Hull, start: number, end: number): boolean {
  return firstSequence < end && lastSequence >= start;
}
