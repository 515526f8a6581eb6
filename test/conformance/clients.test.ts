import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { clients } from './clients.ts';

describe('conformance clients', () => {
  it('are listed in docs/sqs-compatibility.md with the versions that are pinned', () => {
    const text = readFileSync(new URL('../../docs/sqs-compatibility.md', import.meta.url), 'utf8');
    const section = /\n## Clients\n(.*?)\n## /s.exec(text)?.[1] ?? '';
    const listed = [...section.matchAll(/^\| (\S.*?) \| (\d[\d.]*)/gm)].map(([, name, version]) => ({
      name,
      version,
    }));
    const plain = (name = '') => name.toLowerCase().replaceAll(' ', '-');
    for (const { name, version, ofDistribution } of clients) {
      const row = listed.find((each) => plain(each.name).startsWith(name.replace('-resource', '')));
      assert.ok(row !== undefined, name);
      if (!ofDistribution) assert.equal(row.version, version(), name);
    }
  });
});
