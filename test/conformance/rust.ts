/** The Rust program: cargo builds what its Cargo.lock pins, ten minutes of two cores the first time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, found, here, tool } from './toolchain.ts';

/** @param name the folder of a crate. @returns the built program. */
export async function rustProgram(name: string): Promise<string> {
  const [manifest, target] = [join(here, name, 'Cargo.toml'), join(cache, name)];
  await tool('cargo', ['build', '--quiet', '--locked', '--manifest-path', manifest, '--target-dir', target]);
  return join(target, 'debug', 'okuri-conformance');
}

export function rustVersion(name: string, crate: string): string {
  const text = readFileSync(join(here, name, 'Cargo.toml'), 'utf8');
  return found(new RegExp(`^${crate} = "=(.+)"$`, 'm').exec(text), crate);
}
