import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SETTING_NAMES } from '../../src/runtime/settings.ts';
import { VERSION } from '../../src/runtime/version.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('documents', () => {
  it('tell one version', () => {
    assert.equal(JSON.parse(read('package.json')).version, VERSION);
    assert.equal(JSON.parse(read('deno.json')).version, VERSION);
    assert.ok(read('compose.yaml').includes(`image: okuri:${VERSION}\n`));
  });

  it('name every setting, and no setting that is not', () => {
    const text = ['README.md', 'docs/operations.md', 'compose.yaml', 'Dockerfile'].map(read).join('\n');
    const named = new Set([...text.matchAll(/\bOKURI_[A-Z0-9_]+(?![*A-Z0-9_])/g)].map(([name]) => name));
    const known: ReadonlySet<string> = new Set(SETTING_NAMES);
    assert.deepEqual(
      SETTING_NAMES.filter((name) => !named.has(name)),
      [],
    );
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
    );
  });

  it('name the serve command of every runtime the same way', () => {
    assert.match(JSON.parse(read('package.json')).scripts.serve, /src\/cli\/main\.ts serve$/);
    assert.match(JSON.parse(read('deno.json')).tasks.serve, /src\/cli\/main\.ts serve$/);
  });
});
