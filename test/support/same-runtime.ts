/** Starts a program of ours in a process of its own, on the runtime that the test runs on. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** Its input and output are pipes; what it complains of is shown. */
export function spawnAlike(program: URL, ...args: string[]): ChildProcessByStdio<Writable, Readable, null> {
  return spawn(process.execPath, [...runtimeArguments(), fileURLToPath(program), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function runtimeArguments(): string[] {
  const runtime = basename(process.execPath);
  if (runtime.startsWith('deno')) return ['run', '-A', '--no-check', '--no-lock'];
  return runtime.startsWith('bun') ? ['run'] : ['--import', 'tsx'];
}
