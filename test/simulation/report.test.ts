/** A configuration is printed whole: from its lines it can be put together again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawConfig } from './config.ts';
import { configLines } from './report.ts';

describe('the configuration of a seed', () => {
  for (const seed of ['1', '2', '3', 'moves-4', 'crashes-5'])
    it(`is printed in full, in few lines, for seed ${seed}`, () => {
      const config = drawConfig(seed);
      const lines = configLines(config);
      assert.ok(lines.length <= 50, `${lines.length} lines`);
      const read: Record<string, unknown> = {};
      for (const line of lines) {
        const space = line.indexOf(' ');
        const value: unknown = JSON.parse(line.slice(space + 1));
        const [name, index] = line.slice(0, space).split('.');
        if (index === undefined) read[name!] = value;
        else read[name!] = [...((read[name!] as unknown[] | undefined) ?? []), value];
      }
      // What is undefined goes without saying.
      assert.deepEqual(read, JSON.parse(JSON.stringify(config)));
    });
});
