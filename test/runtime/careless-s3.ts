/**
 * A tiny S3 server in memory for one bucket, as bad as a test wants it: one that takes If-Match and ignores it, as
 * several S3-compatible servers do, or one that begins to refuse every request.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CarelessS3 {
  readonly endpoint: string;
  readonly bucket: string;
  ignoresIfMatch: boolean;
  deniesAccess: boolean;
  stop(): Promise<void>;
}

interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly modified: Date;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

const BUCKET = 'careless';

export async function startCarelessS3(): Promise<CarelessS3> {
  const objects = new Map<string, StoredObject>();
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    request.on('end', () => {
      const { status, headers, body } = answerTo(careless, objects, request, Buffer.concat(chunks));
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const careless: CarelessS3 = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: BUCKET,
    ignoresIfMatch: false,
    deniesAccess: false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return careless;
}

function answerTo(
  careless: CarelessS3,
  objects: Map<string, StoredObject>,
  request: IncomingMessage,
  body: Uint8Array,
): Answer {
  if (careless.deniesAccess) return refusal(403, 'AccessDenied');
  const url = new URL(request.url ?? '/', careless.endpoint);
  if (url.searchParams.get('list-type') === '2') return list(objects, url.searchParams.get('prefix') ?? '');
  if (url.searchParams.has('versioning')) return { status: 200, body: '<VersioningConfiguration/>' };
  const key = decodeURIComponent(url.pathname).slice(`/${BUCKET}/`.length);
  const found = objects.get(key);
  if (request.method === 'GET') {
    if (found === undefined) return refusal(404, 'NoSuchKey');
    const headers = { etag: found.etag, 'last-modified': found.modified.toUTCString() };
    return { status: 200, headers, body: found.body };
  }
  const absent = request.headers['if-none-match'] !== '*' || found === undefined;
  const wanted = request.headers['if-match'];
  const matches = wanted === undefined || careless.ignoresIfMatch || wanted === found?.etag;
  if (!absent || !matches) return refusal(412, 'PreconditionFailed');
  if (request.method === 'DELETE') {
    objects.delete(key);
    return { status: 204 };
  }
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  objects.set(key, { body, etag, modified: new Date() });
  return { status: 200, headers: { etag } };
}

function list(objects: ReadonlyMap<string, StoredObject>, prefix: string): Answer {
  const rows = [...objects]
    .filter(([key]) => key.startsWith(prefix))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, { body, etag, modified }]) =>
        `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etag}</ETag>` +
        `<LastModified>${modified.toISOString()}</LastModified></Contents>`,
    );
  const body = `<ListBucketResult><IsTruncated>false</IsTruncated>${rows.join('')}</ListBucketResult>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

function refusal(status: number, code: string): Answer {
  const body = `<Error><Code>${code}</Code><Message>${code} by the test</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body };
}
