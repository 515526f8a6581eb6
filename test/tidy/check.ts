/** Runs the rules on one file and returns every breach in words. Pure, so that the tests can show each rule failing. */
import { posix } from 'node:path';
import {
  BANS,
  LAYERS,
  LINES_ALLOWED,
  LINES_EXCEPT,
  LINES_WITH_REASON,
  MAY_IMPORT,
  PLACES,
  PLACES_EXCEPT,
  REASON,
} from './rules.ts';
import { headerOf, importsOf, readSource, type SourceText } from './source-text.ts';

const begins = (path: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => path.startsWith(prefix));
const isTest = (path: string) => path.startsWith('test/') || path.endsWith('.test.ts');

export function breachesOf(path: string, text: string): readonly string[] {
  const breaches = [...placeBreaches(path, text), ...lengthBreaches(path, text)];
  if (path.endsWith('.ts') && !path.startsWith('src/format/gen/')) {
    const source = readSource(text);
    breaches.push(...arrowBreaches(path, source), ...banBreaches(path, text, source));
  }
  return breaches.map((breach) => `${path}: ${breach}`);
}

function layerOf(path: string): string | undefined {
  return LAYERS.find(([, prefix]) => path.startsWith(prefix))?.[0];
}

function arrowBreaches(path: string, source: SourceText): string[] {
  const own = layerOf(path);
  const breaches: string[] = [];
  for (const name of importsOf(source)) {
    if (!name.startsWith('.')) continue;
    if (!name.endsWith('.ts')) breaches.push(`imports ${name} without its extension`);
    if (own === undefined || isTest(path)) continue;
    const target = posix.normalize(posix.join(posix.dirname(path), name));
    const layer = layerOf(target);
    if (layer === undefined) breaches.push(`imports ${target}, which is in no layer`);
    else if (layer !== own && !MAY_IMPORT[own]!.includes(layer))
      breaches.push(`${own} may not import ${layer} (${target})`);
  }
  return breaches;
}

function banBreaches(path: string, text: string, source: SourceText): string[] {
  const breaches: string[] = [];
  for (const ban of BANS) {
    if (!begins(path, ban.under) || begins(path, ban.except ?? [])) continue;
    // A test drives what it tests from outside: clocks, sockets and files are its own.
    if (isTest(path) && begins(path, ['src/']) && !ban.under.includes('test/')) continue;
    const searched = { code: source.codeOnly, strings: source.withStrings, text }[ban.searched];
    const lines = searched.split('\n');
    lines.forEach((line, index) => {
      if (ban.pattern.test(line)) breaches.push(`line ${index + 1}: ${ban.name}`);
    });
  }
  return breaches;
}

function placeBreaches(path: string, text: string): string[] {
  if (begins(path, PLACES_EXCEPT)) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      PLACES.some((place) => place.test(line)) ? [`line ${index + 1}: names a place`] : [],
    );
}

function lengthBreaches(path: string, text: string): string[] {
  if (begins(path, LINES_EXCEPT)) return [];
  const lines = text.split('\n').length - 1;
  if (lines > LINES_ALLOWED) return [`${lines} lines: more than ${LINES_ALLOWED} must be split`];
  if (lines <= LINES_WITH_REASON || isTest(path)) return [];
  return REASON.test(headerOf(text)) ? [] : [`${lines} lines: over ${LINES_WITH_REASON} the header says why`];
}
