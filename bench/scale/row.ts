/** One row in a process of its own, so that its memory is its own: `row.ts NAME PART`; its last line is JSON. */
import { rows } from './rows.ts';

const [name, part] = process.argv.slice(2);
const row = rows.find((each) => each.name === name);
if (row === undefined) throw new TypeError(`no row ${name}`);
const figures = await row.run(Number(part));
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
