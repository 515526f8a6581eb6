/** The common course of a row in virtual time: an empty queue, then the row's state, then a new node on it. */
import type { QueueSnapshot } from '../../src/engine/queue-api.ts';
import { bounds, type Figure, type RowFigures, smallPart } from './figures.ts';
import type { GroupShape } from './load.ts';
import { heapBytes, type Measured, ScaleWorld } from './scale-world.ts';

export const queue = 'jobs';
export const fifoQueue = 'jobs.fifo';
const emptyQueue = 'empty';
const emptyFifoQueue = 'empty.fifo';
/** Of the load's messages. */
const defaultBodyBytes = 256;

export interface Phase {
  readonly name: string;
  /** Brings the queue into the state that is then measured. */
  prepare(world: ScaleWorld): Promise<void>;
  /** Of the load's messages; 256 unless told. */
  readonly bodyBytes?: number;
  /** Goes on beside the load until `ended`. */
  readonly during?: (world: ScaleWorld, ended: () => boolean) => Promise<void>;
}

export interface VirtualRow {
  readonly name: string;
  /** As the issue says it. */
  readonly title: string;
  /** On a FIFO queue, and of what groups the load's messages are; compared with an empty FIFO queue under the same load. */
  readonly groups?: GroupShape;
  readonly phases: readonly Phase[];
}

export async function runVirtualRow(row: VirtualRow, part: number): Promise<RowFigures> {
  const world = new ScaleWorld(part);
  try {
    return await world.settle(play(row, world, part <= smallPart));
  } finally {
    world.bucket.close();
  }
}

async function play(row: VirtualRow, world: ScaleWorld, small: boolean): Promise<RowFigures> {
  const { groups, phases } = row;
  const attributes: Readonly<Record<string, string>> = groups ? { FifoQueue: 'true' } : {};
  const [empty, full] = groups ? [emptyFifoQueue, fifoQueue] : [emptyQueue, queue];
  await world.create(empty, attributes);
  const empties = new Map<number, Measured>();
  for (const { bodyBytes = defaultBodyBytes } of phases)
    if (!empties.has(bodyBytes)) empties.set(bodyBytes, await world.measure(empty, { bodyBytes, groups }));
  await world.create(full, attributes);
  const figures: Figure[] = [];
  for (const phase of phases) {
    await phase.prepare(world);
    const { during: beside, bodyBytes = defaultBodyBytes } = phase;
    const shape = { bodyBytes, groups };
    const measured = await world.measure(full, shape, beside && ((ended) => beside(world, ended)));
    const prefix = phases.length > 1 ? `${phase.name}: ` : '';
    const counts = await world.snapshot(full);
    for (const figure of phaseFigures(counts, measured, empties.get(bodyBytes)!, bodyBytes, small))
      figures.push({ ...figure, name: prefix + figure.name });
    if (world.stopped !== undefined) break;
  }
  figures.push({
    name: 'manifest, max since the beginning',
    unit: 'bytes',
    value: world.bucket.manifestBytesMax,
    most: small ? bounds.smallManifestBytes : bounds.manifestBytes,
  });
  const most = small ? bounds.smallNodeBytes : bounds.nodeBytes;
  figures.push({ name: 'peak resident memory', unit: 'bytes', value: peakBytes(), most });
  figures.push({ name: 'bytes put under s/', unit: 'bytes', value: world.bucket.storedBytes });
  const recoveryMillis = await world.recover(full);
  figures.push({ name: 'first receive of a new node', unit: 'millis', value: recoveryMillis });
  return { row: row.name, figures, ...(world.stopped === undefined ? {} : { stopped: world.stopped }) };
}

function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

function phaseFigures(
  { visibleCount, inFlightCount, delayedCount }: QueueSnapshot,
  { load, manifests, commits, requests, dollars, cpuMillis }: Measured,
  empty: Measured,
  bodyBytes: number,
  small: boolean,
): Figure[] {
  const p50 = load.receiveMillis.median;
  // Whatever is stored is written once: large bodies are the load's, what comes on top of them is the queue's.
  const sentPerCommit = bodyBytes > defaultBodyBytes ? (load.sent * bodyBytes) / commits.count : 0;
  return [
    { name: 'visible', unit: 'count', value: visibleCount },
    { name: 'in flight', unit: 'count', value: inFlightCount },
    { name: 'delayed', unit: 'count', value: delayedCount },
    {
      name: 'manifest, max',
      unit: 'bytes',
      value: manifests.max,
      most: small ? bounds.smallManifestBytes : bounds.manifestBytes,
    },
    { name: 'bodies sent per commit', unit: 'bytes', value: (load.sent * bodyBytes) / commits.count },
    { name: 'manifest, median', unit: 'bytes', value: manifests.median },
    {
      name: 'bytes per commit, median',
      unit: 'bytes',
      value: commits.median,
      most: bounds.commitBytesMedian + sentPerCommit,
    },
    {
      name: 'heap and external after gc',
      unit: 'bytes',
      value: heapBytes(),
      most: small ? bounds.smallNodeBytes : bounds.nodeBytes,
    },
    { name: 'receive p50', unit: 'millis', value: p50 },
    { name: 'receive p50, empty queue', unit: 'millis', value: empty.load.receiveMillis.median },
    {
      name: 'receive p50 / empty',
      unit: 'ratio',
      value: p50 / empty.load.receiveMillis.median,
      most: bounds.receiveRatio,
    },
    { name: 'receive p99', unit: 'millis', value: load.receiveMillis.quantile(0.99) },
    { name: 'receive p99, empty queue', unit: 'millis', value: empty.load.receiveMillis.quantile(0.99) },
    { name: 'receives that found nothing', unit: 'count', value: load.empty, most: 0 },
    { name: 'calls refused', unit: 'count', value: load.refused, most: 0 },
    { name: 'requests per message', unit: 'count', value: requests / load.messages },
    { name: 'dollars per million', unit: 'dollars', value: (dollars / load.messages) * 1e6 },
    {
      name: 'dollars per million, empty queue',
      unit: 'dollars',
      value: (empty.dollars / empty.load.messages) * 1e6,
    },
    { name: 'CPU per commit', unit: 'millis', value: cpuMillis / commits.count },
    { name: 'CPU per commit, empty queue', unit: 'millis', value: empty.cpuMillis / empty.commits.count },
  ];
}
