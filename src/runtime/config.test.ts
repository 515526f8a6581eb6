import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collide, formatAddress, isLoopback, parseListenAddress } from './addresses.ts';
import { type Config, type Environment, type FileReading, readConfig } from './config.ts';
import { DEVELOPMENT_CREDENTIAL } from './credentials.ts';
import { SETTING_NAMES } from './settings.ts';

const noFile = async (): Promise<FileReading> => {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
};
const file =
  (content: unknown, worldReadable = false) =>
  async (): Promise<FileReading> => ({
    content: typeof content === 'string' ? content : JSON.stringify(content),
    worldReadable,
  });

async function config(environment: Environment, readFile = noFile): Promise<Config> {
  const outcome = await readConfig(environment, readFile);
  assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
  return (outcome as Extract<typeof outcome, { kind: 'done' }>).config;
}

async function mistakes(environment: Environment, readFile = noFile): Promise<readonly string[]> {
  const outcome = await readConfig(environment, readFile);
  assert.equal(outcome.kind, 'mistakes', 'expected mistakes');
  return (outcome as Extract<typeof outcome, { kind: 'mistakes' }>).mistakes;
}

const pair = { OKURI_SQS_ACCESS_KEY_ID: 'AKIDTEST', OKURI_SQS_SECRET_ACCESS_KEY: 'test-secret' };

describe('config', () => {
  it('has the documented defaults', async () => {
    const defaults = await config({ PATH: '/bin' });
    assert.deepEqual(defaults.listen, { host: '127.0.0.1', port: 8080 });
    assert.deepEqual(defaults.healthListen, { host: '127.0.0.1', port: 9090 });
    assert.deepEqual(defaults.store, { kind: 'file', folder: './okuri-data' });
    assert.equal(defaults.accountId, '000000000000');
    assert.equal(defaults.region, 'us-east-1');
    assert.equal(defaults.publicUrl, undefined);
    assert.equal(defaults.trustProxy, false);
    assert.equal(defaults.lingerMillis, 0);
    assert.equal(defaults.cooldowns, false);
    assert.equal(defaults.logLevel, 'info');
  });

  it('lingers 100 ms on S3, 0 ms on memory, and what it is told on both', async () => {
    assert.equal((await config({ OKURI_S3_BUCKET: 'jobs' })).lingerMillis, 100);
    assert.equal((await config({ OKURI_DATA_DIR: 'memory:' })).lingerMillis, 0);
    assert.equal((await config({ OKURI_S3_BUCKET: 'jobs', OKURI_LINGER_MS: '0' })).lingerMillis, 0);
  });

  it('names every mistake at once, and never a value that may be a secret', async () => {
    const all = await mistakes({
      OKURI_LISTEN: 'nowhere',
      OKURI_ACCOUNT_ID: '12',
      OKURI_LINGER_MS: 'soon',
      OKURI_TRUST_PROXY: 'perhaps',
      OKURI_PUBLIC_URL: 'ftp://x',
      OKURI_SQS_SECRET_ACCESS_KEY: 'my-own-secret',
      OKURI_S3_REGION: 'eu-west-1',
      OKURI_LOG_LEVEL: 'loud',
      OKURI_COLOUR: 'red',
    });
    for (const name of [
      'OKURI_LISTEN',
      'OKURI_ACCOUNT_ID',
      'OKURI_LINGER_MS',
      'OKURI_TRUST_PROXY',
      'OKURI_PUBLIC_URL',
      'OKURI_SQS_SECRET_ACCESS_KEY',
      'OKURI_S3_REGION',
      'OKURI_LOG_LEVEL',
      'OKURI_COLOUR',
    ]) {
      assert.equal(
        all.filter((mistake) => mistake.startsWith(`${name} `)).length,
        1,
        `${name} in ${all.join('\n')}`,
      );
    }
    assert.ok(!all.join().includes('my-own-secret'));
  });

  it('suggests the variable that was meant, and none when nothing is near', async () => {
    assert.deepEqual(await mistakes({ OKURI_LISTN: '127.0.0.1:1' }), [
      'OKURI_LISTN is not a variable of okuri; did you mean OKURI_LISTEN?',
    ]);
    assert.deepEqual(await mistakes({ OKURI_XQZWVKJHGFDB: '1' }), [
      'OKURI_XQZWVKJHGFDB is not a variable of okuri',
    ]);
  });

  it('passes over what Kubernetes sets beside a service named okuri', async () => {
    const links = {
      OKURI_SERVICE_HOST: '10.0.0.1',
      OKURI_SERVICE_PORT_API: '8080',
      OKURI_PORT: 'tcp://10.0.0.1:8080',
      OKURI_PORT_8080_TCP_ADDR: '10.0.0.1',
    };
    assert.deepEqual(await config(links), await config({}));
  });

  it('takes an empty variable as not set', async () => {
    const empty = Object.fromEntries(SETTING_NAMES.map((name) => [name, '']));
    assert.deepEqual(await config(empty), await config({}));
  });

  it('reads every S3 setting', async () => {
    const { store } = await config({
      OKURI_S3_BUCKET: 'jobs',
      OKURI_S3_ENDPOINT: 'http://127.0.0.1:9000',
      OKURI_S3_REGION: 'eu-west-1',
      OKURI_S3_PREFIX: 'team/a/',
      OKURI_S3_ACCESS_KEY_ID: 'id',
      OKURI_S3_SECRET_ACCESS_KEY: 'secret',
      OKURI_S3_CREATE_BUCKET: 'yes',
    });
    assert.deepEqual(store, {
      kind: 's3',
      s3: {
        bucket: 'jobs',
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-west-1',
        prefix: 'team/a',
        credential: { accessKeyId: 'id', secretAccessKey: 'secret' },
        forcePathStyle: true,
        createBucket: true,
      },
    });
  });

  it("falls back to AWS's own variables for the bucket's region", async () => {
    const region = async (environment: Environment) => {
      const { store } = await config({ OKURI_S3_BUCKET: 'jobs', ...environment });
      return store.kind === 's3' ? store.s3.region : undefined;
    };
    assert.equal(await region({ AWS_REGION: 'eu-north-1', AWS_DEFAULT_REGION: 'eu-west-3' }), 'eu-north-1');
    assert.equal(await region({ AWS_DEFAULT_REGION: 'eu-west-3' }), 'eu-west-3');
    assert.equal(await region({}), 'us-east-1');
  });

  it('refuses half a pair for the bucket', async () => {
    assert.deepEqual(await mistakes({ OKURI_S3_BUCKET: 'jobs', OKURI_S3_ACCESS_KEY_ID: 'id' }), [
      'OKURI_S3_ACCESS_KEY_ID is set, but OKURI_S3_SECRET_ACCESS_KEY is not',
    ]);
  });
});

describe('config of credentials', () => {
  it('takes the development pair on loopback only, with a warning', async () => {
    for (const listen of ['127.0.0.1:0', '[::1]:8080', 'localhost:8080', '127.9.9.9:1']) {
      const development = await config({ OKURI_LISTEN: listen });
      assert.deepEqual(development.credentials, [DEVELOPMENT_CREDENTIAL]);
      assert.match(development.warnings.join(), /development pair/);
    }
    for (const listen of [
      '0.0.0.0:8080',
      ':8080',
      '[::]:8080',
      '192.168.0.1:80',
      'example.com:80',
      '127.example.com:1',
    ]) {
      const all = await mistakes({ OKURI_LISTEN: listen });
      assert.match(all.join(), /OKURI_LISTEN .* no credentials are set/);
    }
  });

  it('binds any address with credentials of its own, without a warning', async () => {
    const own = await config({ OKURI_LISTEN: '0.0.0.0:8080', ...pair });
    assert.deepEqual(own.credentials, [{ accessKeyId: 'AKIDTEST', secretAccessKey: 'test-secret' }]);
    assert.deepEqual(own.warnings, []);
  });

  it('warns when the published secret is given on purpose', async () => {
    const composed = await config({
      OKURI_LISTEN: '0.0.0.0:8080',
      OKURI_SQS_ACCESS_KEY_ID: DEVELOPMENT_CREDENTIAL.accessKeyId,
      OKURI_SQS_SECRET_ACCESS_KEY: DEVELOPMENT_CREDENTIAL.secretAccessKey,
    });
    assert.match(composed.warnings.join(), /published development secret/);
  });

  it('reads many pairs from a file, beside the variables', async () => {
    const many = {
      credentials: [
        { accessKeyId: 'AKIDONE', secretAccessKey: 'secret-one', comment: 'orders' },
        { accessKeyId: 'AKIDTWO', secretAccessKey: 'secret-two' },
      ],
    };
    const both = await config({ ...pair, OKURI_CREDENTIALS_FILE: 'keys.json' }, file(many));
    assert.deepEqual(
      both.credentials.map((credential) => credential.accessKeyId),
      ['AKIDTEST', 'AKIDONE', 'AKIDTWO'],
    );
    assert.deepEqual(Object.keys(both.credentials[1]!), ['accessKeyId', 'secretAccessKey']);
  });

  it('warns of a file that everybody may read', async () => {
    const one = { credentials: [{ accessKeyId: 'AKIDONE', secretAccessKey: 'secret-one' }] };
    assert.deepEqual((await config({ OKURI_CREDENTIALS_FILE: 'k' }, file(one))).warnings, []);
    const open = await config({ OKURI_CREDENTIALS_FILE: 'k' }, file(one, true));
    assert.match(open.warnings.join(), /can be read by every user/);
  });

  it('names what is wrong in the file without showing it', async () => {
    const secret = 'short!!';
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      ['{ not json', /is not JSON/],
      [{}, /credentials: is missing/],
      [{ credentials: [{ accessKeyId: 'AKIDONE' }] }, /credentials\.0\.secretAccessKey: is missing/],
      [{ credentials: [] }, /at least one pair/],
      [
        { credentials: [{ accessKeyId: 'AKIDONE', secretAccessKey: secret }] },
        /credentials\.0\.secretAccessKey: must have/,
      ],
      [
        { credentials: [{ accessKeyId: 'a/b', secretAccessKey: 'long-enough' }] },
        /credentials\.0\.accessKeyId: must be/,
      ],
      [
        { credentials: [{ accessKeyId: 'AKIDONE', secretAccessKey: 12_345_678 }] },
        /secretAccessKey: must be string/,
      ],
      [
        { credentials: [{ accessKeyId: 'AKIDONE', secretAccessKey: 'long-enough', user: 'x' }] },
        /user: is not known/,
      ],
    ];
    for (const [content, expected] of wrong) {
      const all = (await mistakes({ OKURI_CREDENTIALS_FILE: 'keys.json' }, file(content))).join();
      assert.match(all, expected);
      assert.match(all, /^OKURI_CREDENTIALS_FILE/);
      for (const value of [secret, 'a/b', '12345678', 'long-enough']) assert.ok(!all.includes(value), all);
    }
    assert.match(
      (await mistakes({ OKURI_CREDENTIALS_FILE: 'keys.json' })).join(),
      /cannot be read \(ENOENT\)/,
    );
  });

  it('refuses one id with two secrets', async () => {
    const same = { credentials: [{ accessKeyId: 'AKIDTEST', secretAccessKey: 'another-one' }] };
    assert.deepEqual(await mistakes({ ...pair, OKURI_CREDENTIALS_FILE: 'k' }, file(same)), [
      'access key id AKIDTEST is given twice',
    ]);
  });
});

describe('addresses', () => {
  it('reads and writes IPv4, IPv6 and names', () => {
    for (const text of [
      '127.0.0.1:8080',
      '[::1]:8080',
      '[fe80::1]:0',
      'localhost:65535',
      'queue.example:80',
    ]) {
      assert.equal(formatAddress(parseListenAddress(text)!), text);
    }
    assert.deepEqual(parseListenAddress(':8080'), { host: '::', port: 8080 });
  });

  it('knows what is none', () => {
    for (const text of [
      '',
      '8080',
      '127.0.0.1',
      '::1:8080',
      '[::1]',
      '1.2.3.4:65536',
      '1.2.3.4:-1',
      'a b:1',
      'http://a:1',
    ]) {
      assert.equal(parseListenAddress(text), undefined, text);
    }
  });

  it('tells which two cannot be listened on together', async () => {
    const at = (text: string) => parseListenAddress(text)!;
    assert.equal(collide(at('127.0.0.1:1'), at('127.0.0.1:1')), true);
    assert.equal(collide(at('0.0.0.0:1'), at('127.0.0.1:1')), true);
    assert.equal(collide(at('127.0.0.1:1'), at(':1')), true);
    assert.equal(collide(at('127.0.0.1:1'), at('127.0.0.1:2')), false);
    assert.equal(collide(at('127.0.0.1:1'), at('[::1]:1')), false);
    assert.equal(collide(at('127.0.0.1:0'), at('127.0.0.1:0')), false);
    assert.match(
      (await mistakes({ OKURI_LISTEN: '127.0.0.1:7', OKURI_HEALTH_LISTEN: '127.0.0.1:7' })).join(),
      /cannot both/,
    );
  });

  it('takes only real loopback for loopback', () => {
    const at = (text: string) => isLoopback(parseListenAddress(text)!);
    assert.ok(at('127.0.0.1:1') && at('LOCALHOST:1') && at('[::1]:1'));
    assert.ok(!at('0.0.0.0:1') && !at('[::]:1') && !at('localhost.example:1') && !at('128.0.0.1:1'));
  });
});
