/** Over 300 lines: each way to sign or to spoil a request is a case over one signer. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ACCESS_KEY_ID, NOW_MILLIS, SECRET, signer } from '../../../../test/protocol-support/sqs-client.ts';
import type { SigningDigests } from '../digests.ts';
import { parseRequest } from '../request.ts';
import { webCryptoDigests } from '../web-crypto-digest.ts';
import { SignatureVerifier, type SignedRequest, type Verification } from './verify.ts';

/** Synchronous digests, as a runtime hands them in. */
const nodeDigests: SigningDigests = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  hmacSha256: (key, data) => new Uint8Array(createHmac('sha256', key).update(data).digest()),
};

function verifierAt(
  nowMillis: number,
  options: { regions?: readonly string[]; digests?: SigningDigests } = {},
) {
  return new SignatureVerifier({
    digests: options.digests ?? nodeDigests,
    secretOf: (id) => (id === ACCESS_KEY_ID ? SECRET : undefined),
    nowMillis: () => nowMillis,
    service: 'sqs',
    regions: options.regions ?? [],
  });
}

interface Plain {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const PLAIN: Plain = {
  method: 'POST',
  path: '/',
  query: {},
  headers: {
    host: 'localhost:8080',
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.ListQueues',
  },
  body: '{}',
};

interface SignOptions {
  readonly region?: string;
  readonly token?: string;
  readonly secret?: string;
  readonly at?: number;
  readonly expiresIn?: number;
}

function encodedQuery(query: Record<string, string | readonly string[] | null> | undefined): string {
  return Object.entries(query ?? {})
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value ?? ''))}`)
    .join('&');
}

/** A request as it would arrive: signed by the SDK, its query encoded into the target. */
async function signedRequest(
  plain: Plain,
  options: SignOptions = {},
  presigned = false,
): Promise<SignedRequest> {
  const request = { ...plain, protocol: 'http:', hostname: plain.headers.host ?? '' };
  const signingDate = new Date(options.at ?? NOW_MILLIS);
  const signed = presigned
    ? await signer(options).presign(request, { signingDate, expiresIn: options.expiresIn ?? 60 })
    : await signer(options).sign(request, { signingDate });
  const query = encodedQuery(signed.query);
  return arrived(plain.method, `${plain.path}${query === '' ? '' : `?${query}`}`, signed.headers, plain.body);
}

function arrived(
  method: string,
  target: string,
  headers: Record<string, string>,
  body: string,
  trustProxy = false,
): SignedRequest {
  const bytes = new TextEncoder().encode(body);
  const parsed = parseRequest(
    {
      method,
      target,
      headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    },
    trustProxy,
  );
  return { ...parsed, body: bytes };
}

function withHeader(request: SignedRequest, name: string, value: string | undefined): SignedRequest {
  return { ...request, header: (wanted) => (wanted === name ? value : request.header(wanted)) };
}

function fault(verification: Verification): { type: string; message: string } {
  assert.equal(verification.kind, 'fault');
  return verification.kind === 'fault' ? verification : assert.fail();
}

describe('a signature in the header', () => {
  it('of the SDK is accepted, by synchronous and by Web Crypto digests', async () => {
    const request = await signedRequest(PLAIN);
    for (const digests of [nodeDigests, webCryptoDigests]) {
      const verification = await verifierAt(NOW_MILLIS, { digests }).verify(request);
      assert.deepEqual(verification, {
        kind: 'verified',
        accessKeyId: ACCESS_KEY_ID,
        presigned: false,
        signedHeaders: ['content-type', 'host', 'x-amz-date', 'x-amz-target'],
      });
    }
  });

  it('is accepted a second time, from the cached key, and refused once the secret has changed', async () => {
    let secret = SECRET;
    const verifier = new SignatureVerifier({
      digests: nodeDigests,
      secretOf: () => secret,
      nowMillis: () => NOW_MILLIS,
      service: 'sqs',
      regions: [],
    });
    const request = await signedRequest(PLAIN);
    assert.equal((await verifier.verify(request)).kind, 'verified');
    assert.equal((await verifier.verify(request)).kind, 'verified');
    secret = 'rotated';
    assert.equal(fault(await verifier.verify(request)).type, 'SignatureDoesNotMatch');
  });

  it('covers a session token', async () => {
    const request = await signedRequest(PLAIN, { token: 'tok/en+=' });
    assert.equal((await verifierAt(NOW_MILLIS).verify(request)).kind, 'verified');
    const other = withHeader(request, 'x-amz-security-token', 'other');
    assert.equal(fault(await verifierAt(NOW_MILLIS).verify(other)).type, 'SignatureDoesNotMatch');
  });

  it('folds spaces in header values and takes any order of the query', async () => {
    const plain = {
      ...PLAIN,
      headers: { ...PLAIN.headers, 'x-odd': '  a   b  ' },
      query: { z: '~/', a: '1 x', b: '', B: '+' },
    };
    const request = await signedRequest(plain);
    assert.equal((await verifierAt(NOW_MILLIS).verify(request)).kind, 'verified');
    const reordered = { ...request, query: [...request.query].reverse() };
    assert.equal((await verifierAt(NOW_MILLIS).verify(reordered)).kind, 'verified');
    const folded = withHeader(request, 'x-odd', 'a b');
    assert.equal((await verifierAt(NOW_MILLIS).verify(folded)).kind, 'verified');
  });

  it('sorts parameters of one name by their values', async () => {
    const { headers } = await signer().sign(
      { ...PLAIN, protocol: 'http:', hostname: 'x', query: { a: ['2', '1', 'x y'], A: '' } },
      { signingDate: new Date(NOW_MILLIS) },
    );
    for (const target of ['/?a=2&a=1&A=&a=x%20y', '/?A&a=x%20y&a=1&a=2']) {
      assert.equal(
        (await verifierAt(NOW_MILLIS).verify(arrived('POST', target, headers, '{}'))).kind,
        'verified',
      );
    }
  });

  it('ignores headers it does not name, x-amz-content-sha256 among them, and always hashes the body', async () => {
    const request = await signedRequest(PLAIN);
    const withHash = withHeader(request, 'x-amz-content-sha256', 'UNSIGNED-PAYLOAD');
    assert.equal((await verifierAt(NOW_MILLIS).verify(withHash)).kind, 'verified');
    const swapped = { ...withHash, body: new TextEncoder().encode('{"QueueNamePrefix":"x"}') };
    assert.equal(fault(await verifierAt(NOW_MILLIS).verify(swapped)).type, 'SignatureDoesNotMatch');
  });

  it('is bound to Host with its port as sent', async () => {
    const request = await signedRequest(PLAIN);
    for (const host of ['localhost', 'localhost:8081', 'LOCALHOST:8080']) {
      assert.equal(
        fault(await verifierAt(NOW_MILLIS).verify({ ...request, hosts: [host] })).type,
        'SignatureDoesNotMatch',
      );
    }
  });

  it('behind a trusted proxy may cover the forwarded host, with or without the forwarded port', async () => {
    const signed = await signer().sign(
      {
        ...PLAIN,
        protocol: 'http:',
        hostname: 'x',
        headers: { ...PLAIN.headers, host: 'sqs.example.org:9000' },
      },
      { signingDate: new Date(NOW_MILLIS) },
    );
    const forwards = [
      { 'x-forwarded-host': 'sqs.example.org:9000, inner' },
      { 'x-forwarded-host': 'sqs.example.org', 'x-forwarded-port': '9000' },
    ];
    for (const forward of forwards) {
      const headers = { ...signed.headers, host: '10.0.0.7:8080', ...forward };
      assert.equal(
        (await verifierAt(NOW_MILLIS).verify(arrived('POST', '/', headers, '{}', true))).kind,
        'verified',
      );
      const untrusted = await verifierAt(NOW_MILLIS).verify(arrived('POST', '/', headers, '{}', false));
      assert.equal(fault(untrusted).type, 'SignatureDoesNotMatch');
    }
  });

  it('takes the queue path, encoded characters and a trailing slash', async () => {
    for (const path of ['/000000000000/q', '/000000000000/q/', '/a%20b/c']) {
      const verification = await verifierAt(NOW_MILLIS).verify(await signedRequest({ ...PLAIN, path }));
      assert.equal(verification.kind, 'verified', path);
    }
  });

  it('takes any region, or those configured', async () => {
    const request = await signedRequest(PLAIN, { region: 'eu-west-3' });
    assert.equal((await verifierAt(NOW_MILLIS).verify(request)).kind, 'verified');
    const refused = fault(await verifierAt(NOW_MILLIS, { regions: ['us-east-1'] }).verify(request));
    assert.deepEqual(
      { type: refused.type, message: refused.message },
      { type: 'SignatureDoesNotMatch', message: 'Credential should be scoped to a valid region.' },
    );
  });
});

describe('a presigned signature', () => {
  it('of the SDK is accepted, with and without session token, and finds its target in the query', async () => {
    for (const options of [{}, { token: 'tok/en+=' }]) {
      const request = await signedRequest({ ...PLAIN, query: { b: '2', a: 'x y' } }, options, true);
      assert.equal((await verifierAt(NOW_MILLIS).verify(request)).kind, 'verified');
      assert.equal((await verifierAt(NOW_MILLIS + 60_000).verify(request)).kind, 'verified');
    }
  });

  it('says when it expired and what time it is here', async () => {
    const request = await signedRequest(PLAIN, { expiresIn: 60 }, true);
    assert.deepEqual(fault(await verifierAt(NOW_MILLIS + 61_000).verify(request)), {
      kind: 'fault',
      type: 'SignatureDoesNotMatch',
      message: 'Signature expired: 20260830T123700Z is now earlier than 20260830T123701Z',
    });
  });

  it('lives 1 to 604800 seconds', async () => {
    const week = await signedRequest(PLAIN, { expiresIn: 604_800 }, true);
    assert.equal((await verifierAt(NOW_MILLIS + 604_800_000).verify(week)).kind, 'verified');
    for (const expires of ['0', '604801', '-1', 'x', '1.5', '']) {
      const query = week.query.map(
        ([name, value]) => [name, name === 'X-Amz-Expires' ? expires : value] as const,
      );
      assert.equal(
        fault(await verifierAt(NOW_MILLIS).verify({ ...week, query })).type,
        'IncompleteSignature',
        expires,
      );
    }
  });

  it('without one of its parameters is incomplete', async () => {
    const request = await signedRequest(PLAIN, {}, true);
    for (const missing of ['Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature', 'Algorithm']) {
      const query = request.query.filter(([name]) => name !== `X-Amz-${missing}`);
      assert.equal(
        fault(await verifierAt(NOW_MILLIS).verify({ ...request, query })).type,
        'IncompleteSignature',
        missing,
      );
    }
  });
});

describe('a request is refused', () => {
  it('without any signature', async () => {
    assert.deepEqual(fault(await verifierAt(NOW_MILLIS).verify(arrived('POST', '/', PLAIN.headers, '{}'))), {
      kind: 'fault',
      type: 'MissingAuthenticationToken',
      message: 'Request is missing Authentication Token',
    });
  });

  it('with an unknown key id', async () => {
    const request = await signedRequest(PLAIN);
    const header = request.header('authorization')?.replace(ACCESS_KEY_ID, 'AKIDOTHER');
    assert.deepEqual(
      fault(await verifierAt(NOW_MILLIS).verify(withHeader(request, 'authorization', header))),
      {
        kind: 'fault',
        type: 'InvalidClientTokenId',
        message: 'The security token included in the request is invalid.',
      },
    );
  });

  it('with another secret', async () => {
    const refused = fault(
      await verifierAt(NOW_MILLIS).verify(await signedRequest(PLAIN, { secret: 'other' })),
    );
    assert.equal(refused.type, 'SignatureDoesNotMatch');
    assert.match(
      refused.message,
      /^The request signature we calculated does not match the signature you provided\./,
    );
  });

  it('well signed, but for another service or without its Host', async () => {
    const plain = { ...PLAIN, protocol: 'http:', hostname: 'localhost' };
    const signed = async (options: { signingService?: string; unsignableHeaders?: Set<string> }) => {
      const { headers } = await signer().sign(plain, { signingDate: new Date(NOW_MILLIS), ...options });
      return verifierAt(NOW_MILLIS).verify(arrived('POST', '/', headers, PLAIN.body));
    };
    assert.equal((await signed({})).kind, 'verified');
    const cases = [
      [{ signingService: 'sns' }, "Credential should be scoped to correct service: 'sqs'."],
      [
        { unsignableHeaders: new Set(['host']) },
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
      ],
    ] as const;
    for (const [options, message] of cases) {
      const refused = fault(await signed(options));
      assert.deepEqual([refused.type, refused.message], ['SignatureDoesNotMatch', message]);
    }
  });

  it('whose Credential is scoped to another day than its date, or has no end', async () => {
    const { headers } = await signer().sign(
      { ...PLAIN, protocol: 'http:', hostname: 'localhost' },
      { signingDate: new Date(NOW_MILLIS) },
    );
    const cases = [
      ['/20260830/', '/20260829/', /^Date in Credential scope does not match YYYYMMDD/],
      [
        'aws4_request',
        'aws5_request',
        /^Credential should be scoped with a valid terminator: 'aws4_request'\.$/,
      ],
    ] as const;
    for (const [from, to, message] of cases) {
      const authorization = String(headers.authorization).replace(from, to);
      const request = arrived('POST', '/', { ...headers, authorization }, PLAIN.body);
      assert.match(fault(await verifierAt(NOW_MILLIS).verify(request)).message, message);
    }
  });

  it('more than 15 minutes from our clock, with our time in the message; 15 minutes pass', async () => {
    const request = await signedRequest(PLAIN);
    const minutes15 = 15 * 60_000;
    for (const skew of [-minutes15, minutes15]) {
      assert.equal((await verifierAt(NOW_MILLIS + skew).verify(request)).kind, 'verified');
    }
    assert.equal(
      fault(await verifierAt(NOW_MILLIS + minutes15 + 1000).verify(request)).message,
      'Signature expired: 20260830T123600Z is now earlier than 20260830T123601Z (20260830T125101Z - 15 min.)',
    );
    assert.equal(
      fault(await verifierAt(NOW_MILLIS - minutes15 - 1000).verify(request)).message,
      'Signature not yet current: 20260830T123600Z is still later than 20260830T123559Z (20260830T122059Z + 15 min.)',
    );
  });

  it('with an Authorization header that is broken, never by an exception', async () => {
    const request = await signedRequest(PLAIN);
    const good = request.header('authorization') ?? '';
    const broken: readonly (readonly [string, string])[] = [
      ['', 'IncompleteSignature'],
      ['Bearer x', 'IncompleteSignature'],
      ['AWS4-HMAC-SHA256', 'IncompleteSignature'],
      ['AWS4-HMAC-SHA256 ,,,=,==', 'IncompleteSignature'],
      [good.replace(/Signature=.*/, ''), 'IncompleteSignature'],
      [good.replace(/SignedHeaders=[^,]*,/, ''), 'IncompleteSignature'],
      [good.replace(/Credential=[^,]*/, 'Credential=a/b'), 'IncompleteSignature'],
      [good.replace('/sqs/', '/s3/'), 'SignatureDoesNotMatch'],
      [good.replace('aws4_request', 'aws5'), 'SignatureDoesNotMatch'],
      [good.replace('/20260830/', '/20260829/'), 'SignatureDoesNotMatch'],
      [good.replace(/host;?/, ''), 'SignatureDoesNotMatch'],
      [good.replace('host;', 'host;x-not-sent;'), 'SignatureDoesNotMatch'],
    ];
    for (const [header, type] of broken) {
      assert.equal(
        fault(await verifierAt(NOW_MILLIS).verify(withHeader(request, 'authorization', header))).type,
        type,
        header,
      );
    }
    for (const date of ['yesterday', '20260830', '20261330T123600Z']) {
      const refused = await verifierAt(NOW_MILLIS).verify(withHeader(request, 'x-amz-date', date));
      assert.equal(fault(refused).type, 'IncompleteSignature', date);
    }
  });
});

const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~ +/=&%é'), maxLength: 12 });
const headerValue = fc.string({ unit: fc.constantFrom(...'abc XYZ09;=,'), maxLength: 15 });
const plainRequest: fc.Arbitrary<Plain> = fc.record({
  method: fc.constantFrom('POST', 'GET'),
  path: fc.constantFrom('/', '/000000000000/queue', '/000000000000/queue/', '/x%20y'),
  query: fc.dictionary(
    word.filter((name) => name !== '' && !/^x-amz-/i.test(name)),
    word,
    { maxKeys: 4 },
  ),
  headers: fc
    .dictionary(fc.constantFrom('x-a', 'x-b', 'content-type', 'x-amz-target', 'x-amz-other'), headerValue)
    .map((headers) => ({ host: 'localhost:8080', ...headers })),
  body: fc.string({ unit: 'grapheme', maxLength: 50 }),
});

describe('signatures, whatever the request', () => {
  it('made by the SDK verify, in the header and presigned', async () => {
    await fc.assert(
      fc.asyncProperty(
        plainRequest,
        fc.boolean(),
        fc.option(word, { nil: undefined }),
        async (plain, presigned, token) => {
          const options = token ? { token } : {};
          const request = await signedRequest(plain, options, presigned);
          assert.equal((await verifierAt(NOW_MILLIS).verify(request)).kind, 'verified');
        },
      ),
      { numRuns: 200 },
    );
  });

  it('do not survive one change of method, path, query, signed header or body', async () => {
    const mutation = fc.constantFrom(
      'method',
      'path',
      'query-value',
      'query-more',
      'header',
      'body',
      'signature',
    );
    await fc.assert(
      fc.asyncProperty(plainRequest, fc.boolean(), mutation, async (plain, presigned, what) => {
        const request = await signedRequest(
          { ...plain, query: { ...plain.query, seen: 'v' } },
          {},
          presigned,
        );
        assert.equal(
          fault(await verifierAt(NOW_MILLIS).verify(mutated(request, what))).type,
          'SignatureDoesNotMatch',
        );
      }),
      { numRuns: 200 },
    );
  });
});

function flipped(hex: string): string {
  return (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
}

function mutated(request: SignedRequest, what: string): SignedRequest {
  switch (what) {
    case 'method':
      return { ...request, method: request.method === 'POST' ? 'PUT' : 'POST' };
    case 'path':
      return { ...request, path: `${request.path}x` };
    case 'query-value':
      return {
        ...request,
        query: request.query.map(([name, value]) => [name, name === 'seen' ? `${value}!` : value]),
      };
    case 'query-more':
      return { ...request, query: [...request.query, ['more', '']] };
    case 'header':
      return { ...request, hosts: request.hosts.map((host) => `${host}0`) };
    case 'body':
      return { ...request, body: Uint8Array.of(...request.body, 32) };
    default: {
      const authorization = request.header('authorization');
      return authorization === undefined
        ? {
            ...request,
            query: request.query.map(([name, value]) => [
              name,
              name === 'X-Amz-Signature' ? flipped(value) : value,
            ]),
          }
        : withHeader(
            request,
            'authorization',
            authorization.replace(/Signature=(.*)/, (_, hex: string) => `Signature=${flipped(hex)}`),
          );
    }
  }
}
