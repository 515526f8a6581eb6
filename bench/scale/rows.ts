/** Every row of `just scale`, in the order in which they run. A new one is a file in rows/ and a line here. */
import type { RowFigures } from './figures.ts';
import { backlog } from './rows/backlog.ts';
import { blocked, scattered } from './rows/blocked.ts';
import { bodies } from './rows/bodies.ts';
import { deduplication } from './rows/deduplication.ts';
import { delayed } from './rows/delayed.ts';
import { runFastStore } from './rows/fast-store.ts';
import { groups } from './rows/groups.ts';
import { holes } from './rows/holes.ts';
import { inFlight } from './rows/in-flight.ts';
import { links } from './rows/links.ts';
import { queues } from './rows/queues.ts';
import { runReference } from './rows/reference.ts';
import { runRestart } from './rows/restart.ts';
import { unacknowledged } from './rows/unacknowledged.ts';
import { runVirtualRow, type VirtualRow } from './virtual-row.ts';

export interface Row {
  readonly name: string;
  readonly title: string;
  /** `part` of the full size, 1 or less. */
  run(part: number): Promise<RowFigures>;
}

function virtual(row: VirtualRow): Row {
  return { name: row.name, title: row.title, run: (part) => runVirtualRow(row, part) };
}

export const rows: readonly Row[] = [
  {
    name: 'reference',
    title: 'the reference row of the cost table: 1 node, 100 messages/s, linger 100 ms',
    run: runReference,
  },
  {
    name: 'fast-store',
    title: 'a store that takes a commit in a millisecond, clients that send without pause',
    run: runFastStore,
  },
  ...[inFlight, unacknowledged, delayed, holes, links, queues, bodies, backlog].map(virtual),
  ...[deduplication, groups, blocked, scattered].map(virtual),
  {
    name: 'restart',
    title: 'real processes on versitygw: kill -9 beside a backlog of 1,000,000, first receive of the next',
    run: runRestart,
  },
];
