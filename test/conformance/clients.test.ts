import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Client } from './client.ts';
import { clients } from './clients.ts';
import { judge } from './outcome.ts';

const text = readFileSync(new URL('../../docs/sqs-compatibility.md', import.meta.url), 'utf8');
const section = /\n## Clients\n(.*?)\n## /s.exec(text)?.[1] ?? '';

describe('conformance clients', () => {
  it('are listed in docs/sqs-compatibility.md, each with its pinned version, its protocol and what it shows', () => {
    const listed = section.split('\n').filter((line) => line.startsWith('| `'));
    const expected = clients.map(
      ({ name, version, protocol, does, knownFailure }) =>
        `| \`${name}\` | ${version()} | ${protocol} | ${knownFailure === undefined ? does.join(', ') : `fails: ${knownFailure.why}`} |`,
    );
    assert.deepEqual(listed, expected);
  });

  it('pass only when they end well and did what they promise', () => {
    const [client] = clients;
    assert.ok(client !== undefined);
    const run = { client, store: 'file', seconds: 1, status: 0 };
    const all = `ok a check\n${client.does.map((deed) => `did ${deed}\n`).join('')}`;
    assert.equal(judge({ ...run, output: all }).result, 'passed');
    assert.match(judge({ ...run, output: all, status: 1 }).result, /FAILED/);
    assert.match(judge({ ...run, output: all.replace('ok a check', '') }).result, /checked nothing/);
    assert.match(judge({ ...run, output: all.replace(/did .*\n/, '') }).result, /did not say/);
    assert.match(judge({ ...run, output: `${all}did magic\n` }).result, /not in its row: magic/);
  });

  it('fail when a known failure passes or fails otherwise', () => {
    const client = {
      ...clients[0],
      knownFailure: { why: 'no XML', shows: /UnsupportedOperation/ },
    } as Client;
    const run = { client, store: 'file', seconds: 1, status: 1 };
    assert.equal(judge({ ...run, output: 'saw UnsupportedOperation' }).result, 'known failure');
    assert.match(judge({ ...run, output: 'saw a ghost' }).result, /FAILED/);
    assert.match(judge({ ...run, output: 'saw UnsupportedOperation', status: 0 }).result, /FAILED/);
  });
});
