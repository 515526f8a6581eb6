import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { breachesOf } from './check.ts';
import { importsOf, readSource } from './source-text.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const NOT_OURS = new Set([
  '.git',
  'node_modules',
  '.cache',
  'coverage',
  'dist',
  'okuri-data',
  '.venv',
  '__pycache__',
  'issues',
]);
const TEXT =
  /\.(?:ts|js|mjs|json|md|ya?ml|toml|proto|py|go|mod|sum|sh)$|(?:^|\/)(?:Dockerfile|justfile|LICENSE|run)$/;

function* committedFiles(folder = ''): Generator<string> {
  for (const name of readdirSync(`${root}${folder}`).sort()) {
    const path = `${folder}${name}`;
    if (NOT_OURS.has(name)) continue;
    if (statSync(`${root}${path}`).isDirectory()) yield* committedFiles(`${path}/`);
    else if (TEXT.test(path)) yield path;
  }
}

describe('layout', () => {
  it('holds in every file', () => {
    const files = [...committedFiles()];
    assert.ok(files.includes('src/store/object-store.ts') && files.length > 50, 'the files were not found');
    assert.deepEqual(
      files.flatMap((path) => breachesOf(path, readFileSync(`${root}${path}`, 'utf8'))),
      [],
    );
  });
});

describe('layout rules', () => {
  const breach = (path: string, text: string) => breachesOf(path, text).join('\n');

  it('find an import against the arrows, static, dynamic, of types and re-exported', () => {
    for (const text of [
      "import { x } from '../engine/register.ts';",
      "import type { X } from '../engine/register.ts';",
      "import {\n  x,\n  y,\n} from '../engine/register.ts';",
      "export * from '../engine/register.ts';",
      "const x = import('../engine/register.ts');",
      "import '../engine/register.ts';",
    ]) {
      assert.match(breach('src/core/send.ts', text), /core may not import engine/, text);
    }
    assert.match(breach('src/store/s3-store.ts', "import '../core/ids.ts';"), /store may not import core/);
    assert.match(
      breach('src/engine/loop.ts', "import '../store/memory-store.ts';"),
      /engine may not import store/,
    );
    assert.match(breach('src/runtime/log.ts', "import '../cli/main.ts';"), /runtime may not import cli/);
    assert.match(breach('src/core/a.ts', "import './b';"), /without its extension/);
    assert.equal(
      breach('src/engine/loop.ts', "import '../store/object-store.ts';\nimport '../core/ids.ts';"),
      '',
    );
    assert.equal(breach('src/core/send.test.ts', "import '../engine/register.ts';"), '');
  });

  it('find what may not be named, in code and not in comments or strings', () => {
    const found: readonly (readonly [string, string, RegExp])[] = [
      ['src/core/a.ts', 'const now = Date.now();', /timers, clocks/],
      ['src/engine/a.ts', 'await fetch(url);', /timers, clocks/],
      ['src/engine/a.ts', 'crypto.getRandomValues(x);', /timers, clocks/],
      ['src/engine/a.ts', `const text = \`$\{Math.random()}\`;`, /timers, clocks/],
      ['src/engine/a.ts', 'void run().finally(() => {});', /differs between runtimes/],
      ['test/simulation/a.ts', 'Math.log(2);', /differs between runtimes/],
      ['src/core/a.ts', 'async function f() {}', /asynchronous/],
      ['src/format/a.ts', 'let p: Promise<void>;', /asynchronous/],
      ['src/protocol/sqs/a.ts', "import { createHash } from 'node:crypto';", /node: modules/],
      ['src/protocol/sqs/a.ts', 'Buffer.from(x)', /globals of one runtime/],
      ['src/runtime/a.ts', "if ('Bun' in globalThis) x();", /which runtime/],
      [
        'src/engine/a.ts',
        "import { M } from '../format/gen/okuri/storage/v1/storage_pb.ts';",
        /generated storage code/,
      ],
      ['src/engine/a.ts', "import 'prom-client';", /prom-client/],
      ['src/engine/a.ts', 'export enum Kind { A }', /enum/],
      ['src/engine/a.ts', 'const x = y as any;', /any/],
      ['src/engine/a.ts', '// FIXME later', /unfinished/],
      ['src/engine/a.ts', '// @ts-ignore', /silenced/],
      ['src/engine/a.ts', 'await globalThis.fetch(url);', /timers, clocks/],
      ['src/engine/a.ts', 'await this.#resources.fetch(url);', /^$/],
      ['src/core/a.ts', '// Date.now() is banned here', /^$/],
      ['src/core/a.ts', '/* await\n async */ const x = 1;', /^$/],
      ['src/core/a.ts', "const text = 'await Promise';", /^$/],
      ['src/core/a.ts', 'const text = `await`;', /^$/],
      ['src/runtime/a.ts', "import net from 'node:net';", /^$/],
      ['src/store/file-store.ts', "import fs from 'node:fs';", /^$/],
      ['src/core/a.test.ts', "import test from 'node:test';", /^$/],
    ];
    for (const [path, text, expected] of found) assert.match(breach(path, text), expected, `${path} ${text}`);
  });

  it('find places of one machine, and files that are too long', () => {
    assert.match(breach('README.md', `cd /${'root'}/okuri`), /names a place/);
    assert.match(breach('docs/x.md', `https://registry.${'npmjs'}.org/x`), /names a place/);
    assert.match(breach('src/core/a.ts', 'x();\n'.repeat(501)), /must be split/);
    assert.match(breach('src/core/a.ts', 'x();\n'.repeat(301)), /header says why/);
    assert.equal(breach('src/core/a.ts', `/** Long because it is a table. */\n${'x();\n'.repeat(301)}`), '');
    assert.equal(breach('src/core/a.ts', 'x();\n'.repeat(300)), '');
  });

  it('read imports and code as TypeScript does', () => {
    const source = readSource(
      `import { a } from './a.ts'; // from './no.ts'\nconst r = /['"]/; const s = 'it\\'s // no';\nexport { b } from "./b.ts";\n`,
    );
    assert.deepEqual(importsOf(source), ['./a.ts', './b.ts']);
    assert.ok(!source.codeOnly.includes('no'));
    assert.ok(source.codeOnly.includes('const s = '));
  });
});
