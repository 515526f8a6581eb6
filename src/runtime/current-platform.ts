/** The one place that asks which runtime this is. */
import type { Platform } from './platform.ts';

export async function currentPlatform(): Promise<Platform> {
  if ('Bun' in globalThis) return (await import('./bun/platform.ts')).platform;
  if ('Deno' in globalThis) return (await import('./deno/platform.ts')).platform;
  return (await import('./node/platform.ts')).platform;
}
