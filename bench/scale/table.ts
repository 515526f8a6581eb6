/** Figures as text: one table a row, and Markdown over all rows for docs/scale.md. */
import { type Figure, isOver, type RowFigures, shown } from './figures.ts';

export function tableOf({ figures, stopped }: RowFigures): string {
  const lines = figures.map((figure) => {
    const cells = [figure.name.padEnd(48), shown(figure.value, figure.unit).padStart(14), boundOf(figure)];
    return `   ${cells.join('  ')}`;
  });
  if (stopped !== undefined) lines.push(`   stopped: ${stopped}  OVER`);
  return lines.join('\n');
}

function boundOf(figure: Figure): string {
  const { least, most, unit } = figure;
  if (least === undefined && most === undefined) return '';
  const parts = [
    ...(least === undefined ? [] : [`≥ ${shown(least, unit)}`]),
    ...(most === undefined ? [] : [`≤ ${shown(most, unit)}`]),
  ];
  return `${parts.join(' ').padEnd(26)} ${isOver(figure) ? 'OVER' : 'ok'}`;
}

/** Column head, and the ends of the names of the figures it shows. */
const columns: readonly (readonly [head: string, names: readonly string[]])[] = [
  ['manifest max', ['manifest, max']],
  ['median', ['manifest, median']],
  ['bytes per commit, median', ['bytes per commit, median']],
  ['heap after gc', ['heap and external after gc']],
  ['peak RSS', ['peak resident memory', 'peak resident memory, sending']],
  ['receive p50', ['receive p50']],
  ['of empty', ['receive p50 / empty']],
  ['p99', ['receive p99']],
  ['requests per message', ['requests per message']],
  ['$ per million', ['dollars per million']],
  ['CPU per commit', ['CPU per commit']],
  ['first receive of a new node', ['first receive of a new node', 'first receive after kill -9']],
];

/** Bold is over its bound. Of several phases, the worst. */
export function summary(results: readonly RowFigures[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['row', ...columns.map(([head]) => head)]),
    line(['---', ...columns.map(() => '---:')]),
    ...results.map(({ row, figures, stopped }) =>
      line([
        stopped === undefined ? row : `${row} (stopped)`,
        ...columns.map(([, names]) => cell(figures, names)),
      ]),
    ),
  ].join('\n');
}

function cell(figures: readonly Figure[], names: readonly string[]): string {
  const found = figures.filter(({ name }) =>
    names.some((each) => name === each || name.endsWith(`: ${each}`)),
  );
  if (found.length === 0) return '–';
  const worst = found.reduce((a, b) => (b.value > a.value ? b : a));
  const text = shown(worst.value, worst.unit);
  return found.some(isOver) ? `**${text}**` : text;
}
