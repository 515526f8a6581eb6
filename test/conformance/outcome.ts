/**
 * What a client's run amounts to. A known failure is neither passed nor failed: the table names it with its reason. When
 * it passes all the same, or fails otherwise than its row says, that is a failure.
 */
import type { Client } from './client.ts';

export interface Outcome {
  readonly client: Client;
  readonly store: string;
  readonly result: 'passed' | 'known failure' | `FAILED${string}`;
  readonly checks: number;
  readonly seconds: number;
}

interface Run {
  readonly client: Client;
  readonly store: string;
  readonly status: number | null;
  readonly output: string;
  readonly seconds: number;
}

export function judge({ client, store, status, output, seconds }: Run): Outcome {
  const checks = output.match(/^ok /gm)?.length ?? 0;
  return { client, store, checks, seconds, result: result(client, status, output) };
}

function result({ does, knownFailure }: Client, status: number | null, output: string): Outcome['result'] {
  if (knownFailure !== undefined) {
    if (status === 0) return 'FAILED: passes, but is listed as a known failure';
    return knownFailure.shows.test(output) ? 'known failure' : 'FAILED: in another way than is known';
  }
  if (status !== 0) return 'FAILED';
  if (!/^ok /m.test(output)) return 'FAILED: checked nothing';
  const did = [...output.matchAll(/^did (.+)$/gm)].map(([, deed]) => deed ?? '');
  const missing = does.filter((deed) => !did.includes(deed));
  const more = did.filter((deed) => !does.includes(deed));
  if (missing.length > 0) return `FAILED: did not say ${missing.join(', ')}`;
  return more.length > 0 ? `FAILED: not in its row: ${more.join(', ')}` : 'passed';
}

const HEADINGS = ['client', 'version', 'protocol', 'store', 'checks', 'took', 'result', 'did'];

export function printTable(outcomes: readonly Outcome[]): void {
  const rows = outcomes.map(({ client, store, result, checks, seconds }) => [
    client.name,
    client.version(),
    client.protocol,
    store,
    `${checks}`,
    `${seconds} s`,
    result,
    result === 'passed' ? client.does.join(', ') : '-',
  ]);
  const widths = HEADINGS.map((_, column) =>
    Math.max(...[HEADINGS, ...rows].map((row) => (row[column] ?? '').length)),
  );
  console.log();
  for (const row of [HEADINGS, ...rows])
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  console.log();
  const known = new Set(
    outcomes.filter(({ result }) => result === 'known failure').map(({ client }) => client),
  );
  for (const { name, knownFailure } of known) console.log(`known failure of ${name}: ${knownFailure?.why}`);
}
