/** A job that fails again and again: once its input ends, keeps the seeds `<job>-1`, `<job>-2`, … in a file. */
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { keepSeed } from './seeds.ts';

const [file, job, count] = process.argv.slice(2);
console.log('ready');
await once(process.stdin.resume(), 'end');
for (let number = 1; number <= Number(count); number++)
  keepSeed({ seed: `${job}-${number}`, found: 'no acknowledged send is lost' }, pathToFileURL(file!));
process.exit();
