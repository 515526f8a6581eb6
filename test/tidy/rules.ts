/**
 * The rules of the house that no compiler or linter checks, as a table: who may import whom, what may not be named
 * where, how long a file may be. STYLE.md's layout and DESIGN.md section 8 say why; layout.test.ts runs them.
 */

/** Imports point only towards earlier layers. A file belongs to the first layer whose prefix its path begins with. */
export const LAYERS: readonly (readonly [layer: string, prefix: string])[] = [
  ['core', 'src/core/'],
  ['format', 'src/format/'],
  ['port', 'src/store/object-store.ts'],
  ['store', 'src/store/'],
  ['engine', 'src/engine/'],
  ['protocol', 'src/protocol/'],
  ['runtime', 'src/runtime/'],
  ['cli', 'src/cli/'],
  ['embedding', 'mod.ts'],
];

/** What each layer may import besides itself. Tests beside the code may import anything. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  format: ['core'],
  port: [],
  // Adapters and wrappers know the port alone.
  store: ['port'],
  engine: ['core', 'format', 'port'],
  protocol: ['core', 'format', 'port', 'engine'],
  runtime: ['core', 'format', 'port', 'store', 'engine', 'protocol'],
  cli: ['core', 'format', 'port', 'store', 'engine', 'protocol', 'runtime'],
  embedding: ['core', 'format', 'port', 'store', 'engine', 'protocol', 'runtime'],
};

export interface Ban {
  readonly name: string;
  readonly pattern: RegExp;
  /** `code`: neither comments nor the contents of strings; `strings`: no comments; `text`: as written. */
  readonly searched: 'code' | 'strings' | 'text';
  /** Path prefixes it holds for; `''` is everywhere. */
  readonly under: readonly string[];
  readonly except?: readonly string[];
}

const RUNTIME_ONLY = ['src/runtime/', 'src/cli/', 'src/store/file-'];

export const BANS: readonly Ban[] = [
  {
    name: 'node: modules outside the runtime',
    pattern: /(?:from|import)\s*\(?\s*['"]node:/,
    searched: 'strings',
    under: ['src/', 'mod.ts'],
    except: RUNTIME_ONLY,
  },
  {
    name: 'globals of one runtime',
    pattern: /\b(?:Buffer|process|Bun|Deno|__dirname|require)\s*[.([]/,
    searched: 'code',
    under: ['src/', 'mod.ts'],
    except: RUNTIME_ONLY,
  },
  {
    name: 'asking which runtime this is',
    pattern: /['"](?:Bun|Deno)['"]\s+in\s+globalThis|\bglobalThis\.(?:Bun|Deno)\b/,
    searched: 'strings',
    under: ['src/', 'mod.ts'],
    except: ['src/runtime/current-platform.ts'],
  },
  {
    name: 'timers, clocks, randomness, network or Web Crypto in the pure parts and the engine',
    pattern:
      /(?:(?<![.#\w])(?<!async )|globalThis\.)(?:setTimeout|setInterval|setImmediate|queueMicrotask|fetch)\s*\(|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bcrypto\./,
    searched: 'code',
    under: ['src/core/', 'src/format/', 'src/engine/'],
  },
  {
    name: 'what differs between runtimes, so that a simulated run would not replay alike (engine/afterwards.ts)',
    pattern:
      /\.finally\s*\(|\bMath\.(?:log\w*|expm?1?|pow|sinh?|cosh?|tanh?|a(?:sin|cos|tan)\w*|cbrt|hypot)\b/,
    searched: 'code',
    under: ['src/core/', 'src/format/', 'src/engine/', 'src/store/retrying-store.ts', 'test/simulation/'],
  },
  {
    name: 'asynchronous code in the pure parts',
    pattern: /\basync\b|\bawait\b|\bPromise\b/,
    searched: 'code',
    under: ['src/core/', 'src/format/'],
  },
  {
    name: 'generated storage code outside src/format',
    pattern: /['"][^'"]*format\/gen\/[^'"]*['"]/,
    searched: 'strings',
    under: ['src/', 'mod.ts', 'test/'],
    except: ['src/format/', 'test/golden/', 'test/tidy/'],
  },
  {
    name: 'prom-client outside the runtime',
    pattern: /['"]prom-client['"]/,
    searched: 'strings',
    under: ['src/'],
    except: ['src/runtime/'],
  },
  {
    name: 'enum, namespace and parameter properties',
    pattern: /^\s*(?:export\s+)?(?:const\s+)?(?:enum|namespace)\s+\w/m,
    searched: 'code',
    under: ['src/', 'test/', 'mod.ts'],
  },
  {
    name: 'any',
    pattern: /\bas any\b|:\s*any\b|<any>/,
    searched: 'code',
    under: ['src/', 'test/', 'mod.ts'],
  },
  {
    name: 'unfinished work',
    pattern: /\b(?:FIXME|TODO|XXX)\b/,
    searched: 'text',
    under: ['src/', 'test/', 'mod.ts', 'proto/'],
    except: ['test/tidy/'],
  },
  {
    name: 'silenced checks',
    pattern: /@ts-(?:ignore|nocheck)/,
    searched: 'text',
    under: ['src/', 'test/', 'mod.ts'],
    except: ['src/format/gen/', 'test/tidy/'],
  },
];

/** Committed files name no place of one machine, and no registry but by its ordinary client's default. */
export const PLACES: readonly RegExp[] = [
  /\/(?:home|Users)\/\w+/,
  /\/root\//,
  /\/work\/(?:main|shared)/,
  /registry\.npmjs|npmmirror|pypi\.org|proxy\.golang|deb\.debian|jfrog/,
];
/** A lock file names where each package came from when it was made; the rules name what they look for. */
export const PLACES_EXCEPT: readonly string[] = ['package-lock.json', 'test/tidy/'];

export const LINES_ALLOWED = 500;
export const LINES_WITH_REASON = 300;
/** Words in the header of a file over LINES_WITH_REASON that give the reason. */
export const REASON = /\b(?:long|lines|length|one file|together|in one place)\b/i;
export const LINES_EXCEPT: readonly string[] = [
  'src/format/gen/',
  'package-lock.json',
  'LICENSE',
  'docs/',
  'test/golden/buckets/',
  'CHANGELOG.md',
  'model/',
];
