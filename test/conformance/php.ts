/**
 * The PHP programs. Their packages come from Debian, which alone says what is there: what is missing, or of another
 * upstream version than php/debian-packages.txt names, is an error that says so.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { found, here, tool } from './toolchain.ts';

/** @returns the program's path. */
export async function phpProgram(program: string): Promise<string> {
  const pins = [...list().matchAll(/^(php-\S+) (\S+)$/gm)].map(([, name = '', version = '']) => ({
    name,
    version,
  }));
  const install = `apt-get install php-cli ${pins.map(({ name }) => name).join(' ')}`;
  for (const { name, version } of pins) {
    const installed = await tool('dpkg-query', ['--show', '--showformat=$' + '{Version}', name]).catch(
      () => '',
    );
    const upstream = /^(?:\d+:)?([\d.]+)/.exec(installed)?.[1];
    if (upstream === undefined) throw new Error(`${name} is missing: ${install}`);
    if (upstream !== version) throw new Error(`${name} ${upstream} is installed, but ${version} is pinned`);
  }
  await tool('php', ['--version']);
  return join(here, 'php', program);
}

export function debianVersion(name: string): string {
  return found(new RegExp(`^${name} (\\S+)$`, 'm').exec(list()), name);
}

const list = () => readFileSync(join(here, 'php', 'debian-packages.txt'), 'utf8');
