/** What every fault test prints: one line a check, and at the end `N passed, N failed`, which is also its exit status. */
let passed = 0;
let failed = 0;

export function check(what: string, holds: boolean, seen?: unknown): void {
  if (holds) passed += 1;
  else failed += 1;
  console.log(holds ? `ok ${what}` : `FAILED ${what}: saw ${JSON.stringify(seen)}`);
}

export function figure(what: string, value: unknown): void {
  console.log(`   ${what}: ${value}`);
}

/** Prints the totals and ends the process, so that nothing waits for open connections. */
export function finish(): never {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

/** Runs the test; an exception is a failed check with its stack. */
export async function runChecks(test: () => Promise<void>): Promise<never> {
  try {
    await test();
  } catch (error) {
    check('the test runs to its end', false, error instanceof Error ? error.stack : error);
  }
  return finish();
}

/** `--name value` from the command line. */
export function option(name: string, fallback: number): number {
  const index = process.argv.indexOf(`--${name}`);
  if (index < 0) return fallback;
  const value = Number(process.argv[index + 1]);
  if (!Number.isFinite(value)) throw new TypeError(`--${name} wants a number`);
  return value;
}
