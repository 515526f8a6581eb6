import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreError } from '../store/object-store.ts';
import { logFailure } from './log-failure.ts';
import { Unavailable } from './queue-api.ts';

describe('what the engine does of its own accord', () => {
  it('warns of what may pass, and tells of a mistake of ours as an error', () => {
    const told: (readonly [level: string, message: string, fields: unknown])[] = [];
    const at = (level: string) => (message: string, fields?: unknown) => {
      told.push([level, message, fields]);
    };
    const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    const failures = [
      new StoreError('down', { retryable: true }),
      new Unavailable('full'),
      new Error('ours'),
    ];
    for (const error of failures) logFailure(log, 'not swept', error, { queue: 'q' });
    assert.deepEqual(
      told,
      failures.map((error, i) => [i < 2 ? 'warn' : 'error', 'not swept', { queue: 'q', error }]),
    );
  });
});
