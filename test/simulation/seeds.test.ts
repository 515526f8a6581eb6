/** Seeds that failed are kept, whoever else keeps some at that time. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { spawnAlike } from '../support/same-runtime.ts';
import { keepSeed, keptSeeds } from './seeds.ts';

const program = new URL('./seeds-child.ts', import.meta.url);

async function inFile(text: string, act: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'okuri-seeds-'));
  try {
    const path = join(folder, 'seeds.txt');
    writeFileSync(path, text);
    await act(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('kept seeds', () => {
  it('are each a line of the file that says what was wrong', () => {
    const text = readFileSync(new URL('./seeds.txt', import.meta.url), 'utf8');
    assert.ok(text.endsWith('\n'), 'or the next one would be appended to the last line');
    for (const line of text.trimEnd().split('\n')) assert.match(line, /^[a-z\d-]+: ./);
    assert.equal(keptSeeds().length, text.trimEnd().split('\n').length);
  });

  it('are kept once', () =>
    inFile('9: lost\n', async (path) => {
      const file = pathToFileURL(path);
      keepSeed({ seed: 'moves-9', found: 'moved\ntwice' }, file);
      keepSeed({ seed: '9', found: 'again' }, file);
      keepSeed({ seed: 'moves-9', found: 'again' }, file);
      assert.equal(readFileSync(path, 'utf8'), '9: lost\nmoves-9: moved twice\n');
      assert.deepEqual(keptSeeds(file), ['9', 'moves-9']);
    }));

  it('of jobs that fail together are all kept', () =>
    inFile('9: lost\n', async (path) => {
      const count = 100;
      const jobs = ['a', 'b'];
      const children = jobs.map((job) => spawnAlike(program, path, job, String(count)));
      const closed = children.map((child) => once(child, 'close'));
      await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
      for (const { stdin } of children) stdin.end();
      assert.deepEqual(
        (await Promise.all(closed)).map(([code]) => code as unknown),
        [0, 0],
      );
      const wanted = jobs.flatMap((job) =>
        Array.from({ length: count }, (_, index) => `${job}-${index + 1}`),
      );
      assert.deepEqual(keptSeeds(pathToFileURL(path)).sort(), ['9', ...wanted].sort());
    }));
});
