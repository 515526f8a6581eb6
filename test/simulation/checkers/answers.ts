/** Only Unavailable is thrown: anything else, and any error the engine logs, is a mistake of ours. */
import type { DiffChecker } from './check.ts';

export function answersChecker(): DiffChecker {
  return {
    name: 'nothing crashes',
    answered: ({ id, request }, answer) =>
      answer.kind === 'crashed' ? `call ${id} (${request.kind}) crashed: ${textOf(answer.error)}` : undefined,
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
