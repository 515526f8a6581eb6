import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, type LogLevel } from './log.ts';

function recorded(pretty: boolean, level: LogLevel = 'debug', secrets: readonly string[] = []) {
  const lines: string[] = [];
  const log = createLog({ level, pretty, secrets, write: (line) => lines.push(line) });
  return { log, lines };
}

describe('log', () => {
  it('writes one JSON object a line, with fields and errors in it', () => {
    const { log, lines } = recorded(false);
    log.warn('Store slow', { key: 'm/orders', millis: 5, error: new Error('boom') });
    assert.equal(lines.length, 1);
    assert.ok(lines[0]!.endsWith('\n'));
    const line = JSON.parse(lines[0]!);
    assert.equal(line.message, 'Store slow');
    assert.equal(line.level, 'WARN');
    assert.equal(line.fields.key, 'm/orders');
    assert.equal(line.fields.error.message, 'boom');
    assert.ok(!Number.isNaN(Date.parse(line['@timestamp'])));
  });

  it('keeps a field that is named like a part of the line apart', () => {
    const { log, lines } = recorded(false);
    log.info('Odd', { message: 'mine', level: 'mine' });
    const line = JSON.parse(lines[0]!);
    assert.equal(line.message, 'Odd');
    assert.equal(line.level, 'INFO');
  });

  it('writes for people with the fields behind the message', () => {
    const { log, lines } = recorded(true);
    log.info('Listening', { address: '127.0.0.1:8080', error: new Error('boom') });
    assert.match(lines[0]!, /Listening.* address="127\.0\.0\.1:8080" error=Error: boom/s);
  });

  it('leaves out what is below the level', () => {
    const { log, lines } = recorded(false, 'warning');
    log.debug('no');
    log.info('no');
    log.warn('yes');
    log.error('yes');
    assert.equal(lines.length, 2);
  });

  it('blots out every configured secret, wherever it stands', () => {
    const secret = 'b2t1/cmkt"quoted"+secret==';
    for (const pretty of [false, true]) {
      const { log, lines } = recorded(pretty, 'debug', ['', secret]);
      log.error(`In the message ${secret}`, {
        plain: secret,
        nested: { deep: [secret] },
        error: new Error(`refused for ${secret}`, { cause: secret }),
      });
      const all = lines.join('');
      assert.ok(!all.includes(secret) && !all.includes(JSON.stringify(secret).slice(1, -1)), all);
      assert.match(all, /\[secret\]/);
    }
  });
});
