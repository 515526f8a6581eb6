/** What a row of `just scale` measures, and the bounds it is held to (DESIGN.md section 4). */
const KiB = 1024;
const MiB = 1024 * KiB;

/** `--small`; larger parts are held to what holds for the whole. */
export const smallPart = 0.01;

export const bounds = {
  manifestBytes: MiB,
  /** At a hundredth of the load: a full tail (256 KiB), and as much again for what is not yet in a page. */
  smallManifestBytes: 640 * KiB,
  nodeBytes: 512 * MiB,
  smallNodeBytes: 384 * MiB,
  commitBytesMedian: 300 * KiB,
  /** A second, on a store that takes a commit each millisecond: 8 MiB of tails, as much again for all else that a manifest holds. */
  fastStoreBytes: 16 * MiB,
  /** Receive p50 over an empty queue's. */
  receiveRatio: 1.2,
  /** `just cost`: 1 node, 100 messages/s, linger 100 ms; dollars per million when this bound was set. */
  referenceDollars: 0.472,
  referenceShare: 0.1,
  firstReceiveMillis: 2_000,
} as const;

export type Unit = 'count' | 'bytes' | 'millis' | 'dollars' | 'ratio';

export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
  /** Undefined: shown, held to nothing. */
  readonly most?: number;
  readonly least?: number;
}

export interface RowFigures {
  readonly row: string;
  readonly figures: readonly Figure[];
  /** Set when the row stopped short of its size, and why. */
  readonly stopped?: string;
}

export function isOver({ value, most, least }: Figure): boolean {
  if (most === undefined && least === undefined) return false;
  // Not `value > most`: what could not be measured keeps no bound.
  return !((most === undefined || value <= most) && (least === undefined || value >= least));
}

export function shown(value: number, unit: Unit): string {
  if (Number.isNaN(value)) return '–';
  switch (unit) {
    case 'count':
      return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 4 : 0 });
    case 'bytes':
      if (value >= 1024 * MiB) return `${(value / 1024 / MiB).toFixed(2)} GiB`;
      return value < MiB ? `${(value / KiB).toFixed(1)} KiB` : `${(value / MiB).toFixed(2)} MiB`;
    case 'millis':
      return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
    case 'dollars':
      return `$${value.toFixed(3)}`;
    case 'ratio':
      return value.toFixed(2);
  }
}
