/** The figures of cost-runs.ts as Markdown, and their place in the documents. */
import type { CostFigures, IdleFigures } from './cost-runs.ts';
import { quantile } from './workload.ts';

const begin = '<!-- cost:begin -->';
const end = '<!-- cost:end -->';

type Column = readonly [head: string, cell: (figures: CostFigures) => string];

const setting: readonly Column[] = [
  ['nodes', ({ run }) => String(run.nodes)],
  ['messages/s', ({ run }) => run.ratePerSecond.toLocaleString('en')],
  ['linger, ms', ({ run }) => String(run.lingerMillis)],
];

const title: Column = ['', ({ run }) => run.other?.title ?? ''];

const requests: readonly Column[] = [
  ['PUT', ({ result, messages }) => (result.requests.put / messages).toFixed(4)],
  ['conditional PUT', ({ result, messages }) => (result.requests.conditionalPut / messages).toFixed(4)],
  ['GET', ({ result, messages }) => (result.requests.get / messages).toFixed(4)],
  ['LIST', ({ result, messages }) => (result.requests.list / messages).toFixed(4)],
];

const dollars: Column = ['$ per million', dollarsPerMillion];

const swaps: Column = [
  'lost swaps',
  ({ result }) => `${Math.round((100 * result.lostSwaps) / result.requests.conditionalPut)} %`,
];

const endToEnd: Column = [
  'end to end p50 / p99, ms',
  ({ result }) => `${millis(result.endToEndMillis, 0.5)} / ${millis(result.endToEndMillis, 0.99)}`,
];

const sending: Column = [
  'send p50 / p99, ms',
  ({ result }) => `${millis(result.sendMillis, 0.5)} / ${millis(result.sendMillis, 0.99)}`,
];

function dollarsPerMillion({ result, messages }: CostFigures): string {
  return ((result.dollars / messages) * 1_000_000).toFixed(2);
}

function millis(values: readonly number[], part: number): string {
  return values.length === 0 ? '–' : quantile(values, part).toFixed(0);
}

function table(columns: readonly Column[], rows: readonly CostFigures[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(([head]) => head)),
    line(columns.map(([head]) => (head === '' ? '---' : '---:'))),
    ...rows.map((row) => line(columns.map(([, cell]) => cell(row)))),
  ].join('\n');
}

export function shortTable(figures: readonly CostFigures[]): string {
  return table(
    [...setting, dollars, endToEnd],
    figures.filter(({ run }) => run.group === 'end to end'),
  );
}

export function fullTable(figures: readonly CostFigures[], idle: IdleFigures): string {
  const of = (group: string) => figures.filter(({ run }) => run.group === group);
  return [
    'Each message sent, received and deleted once; requests per message:',
    table([...setting, ...requests, dollars, swaps, sending, endToEnd], of('end to end')),
    'The same at 100 messages/s, linger 100 ms, and other in one thing:',
    table([title, ...requests, dollars, swaps, sending, endToEnd], of('other loads')),
    'Per message **produced**, while nobody receives:',
    table([...setting, ...requests, dollars, sending], of('produced')),
    'Per message **consumed** (received and deleted) of a backlog, while nobody sends:',
    table([...setting.filter(([head]) => head !== 'messages/s'), ...requests, dollars], of('consumed')),
    'A month of silence:',
    [
      '| | $ per month |',
      '| --- | ---: |',
      `| a queue that nobody waits on | ${idle.queue === 0 ? '0' : cells(idle.queue)} |`,
      `| a receive that waits on it without end, on one node | ${cells(idle.waiting)} |`,
      `| a process, whatever it serves (the daily sweep of the bucket) | ${cells(idle.process)} |`,
    ].join('\n'),
    'Many queues with a waiting receive on one node, per queue and month of silence:',
    [
      '| queues | each by GET | as it is: by LIST where that costs less | the node |',
      '| ---: | ---: | ---: | ---: |',
      ...idle.many.map(
        ({ queues, byGet, asIs }) =>
          `| ${queues.toLocaleString('en')} | ${cells(byGet)} | ${cells(asIs)} | $${(queues * asIs).toFixed(2)} |`,
      ),
    ].join('\n'),
  ].join('\n\n');
}

function cells(dollarsAMonth: number): string {
  return `$${dollarsAMonth.toFixed(dollarsAMonth < 0.1 ? 4 : 2)}`;
}

/** @throws Error when the document has no place for it. */
export function withTable(document: string, content: string): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`no ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n${content}\n${document.slice(to)}`;
}
