/** One line a check on standard output; the first wrong answer ends the program with status 1. */
import { deepStrictEqual } from 'node:assert';
import { SQSServiceException } from '@aws-sdk/client-sqs';

export function check(what: string, holds: boolean, seen?: unknown): asserts holds {
  if (!holds) {
    console.log(`FAILED ${what}: saw`, seen);
    process.exit(1);
  }
  console.log(`ok ${what}`);
}

export function checkEqual(what: string, seen: unknown, expected: unknown): void {
  try {
    deepStrictEqual(seen, expected);
  } catch {
    check(what, false, seen);
  }
  check(what, true);
}

/** The call must be refused, as the exception class (or its name, where the SDK has no class). */
export async function checkRefused(
  what: string,
  call: Promise<unknown>,
  expected: string | (abstract new (...args: never[]) => SQSServiceException),
): Promise<void> {
  const seen = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  check(`${what}: refused by the service`, seen instanceof SQSServiceException, seen);
  const holds = typeof expected === 'string' ? seen.name === expected : seen instanceof expected;
  check(`${what}: as ${typeof expected === 'string' ? expected : expected.name}`, holds, seen);
}
