/**
 * A small SQS client for load: AWS JSON 1.0 over keep-alive connections, signed with node:crypto, and nothing else.
 * The official SDK costs several times the CPU per call, on machines where client and server share two cores; the
 * SDKs themselves are tried by test/conformance. It never repeats a call: what to do about a failure is the caller's.
 */
import { createHash, createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { accessKeyId, region, secretAccessKey } from './okuri-process.ts';

export type Answer =
  | { readonly kind: 'ok'; readonly body: SqsBody }
  /** The service refused; `status` 503 says try again. */
  | { readonly kind: 'refused'; readonly status: number; readonly type: string; readonly message: string }
  /** No complete answer came: the call may or may not have taken effect. */
  | { readonly kind: 'lost'; readonly reason: string };

export interface SqsMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
}

/** The fields of all answers that the fault tests look at. */
export interface SqsBody {
  readonly QueueUrl?: string;
  readonly MessageId?: string;
  readonly SequenceNumber?: string;
  readonly Messages?: readonly SqsMessage[];
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly Successful?: readonly {
    readonly Id: string;
    readonly MessageId?: string;
    readonly SequenceNumber?: string;
  }[];
  readonly Failed?: readonly { readonly Id: string; readonly Code: string; readonly Message?: string }[];
  readonly __type?: string;
  readonly message?: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 512 });
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const signingKeys = new Map<string, Buffer>();

function signingKey(date: string): Buffer {
  const known = signingKeys.get(date);
  if (known !== undefined) return known;
  const key = mac(mac(mac(mac(`AWS4${secretAccessKey}`, date), region), 'sqs'), 'aws4_request');
  signingKeys.set(date, key);
  return key;
}

/** The headers of one signed request; exported for tests that write to a socket themselves. */
export function signedHeaders(host: string, action: string, payload: string): Record<string, string> {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const date = stamp.slice(0, 8);
  const target = `AmazonSQS.${action}`;
  const type = 'application/x-amz-json-1.0';
  const names = 'content-type;host;x-amz-date;x-amz-target';
  const canonical = `POST\n/\n\ncontent-type:${type}\nhost:${host}\nx-amz-date:${stamp}\nx-amz-target:${target}\n\n${names}\n${hash(payload)}`;
  const scope = `${date}/${region}/sqs/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash(canonical)}`;
  const signature = mac(signingKey(date), text).toString('hex');
  return {
    host,
    'content-type': type,
    'x-amz-date': stamp,
    'x-amz-target': target,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** One call. `timeoutMillis` bounds the whole exchange; it must exceed the wait of a long poll. */
export function call(
  url: string,
  action: string,
  input: Readonly<Record<string, unknown>>,
  timeoutMillis = 60_000,
): Promise<Answer> {
  const payload = JSON.stringify(input);
  const { host, hostname, port } = new URL(url);
  const headers = {
    ...signedHeaders(host, action, payload),
    'content-length': `${Buffer.byteLength(payload)}`,
  };
  return new Promise((resolve) => {
    const lost = (error: Error) => resolve({ kind: 'lost', reason: error.message });
    const outgoing = request({ agent, hostname, port, method: 'POST', path: '/', headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('error', lost);
      incoming.once('close', () => {
        if (!incoming.complete) return lost(new Error('the answer was cut off'));
        resolve(parse(incoming.statusCode ?? 0, Buffer.concat(chunks).toString()));
      });
    });
    outgoing.once('error', lost);
    const timer = setTimeout(() => {
      const error = new Error('timed out');
      // At once: whatever still comes counts as unseen, since the node may see us gone and take it back.
      lost(error);
      outgoing.destroy(error);
    }, timeoutMillis);
    outgoing.once('close', () => clearTimeout(timer));
    outgoing.end(payload);
  });
}

function parse(status: number, text: string): Answer {
  let body: SqsBody;
  try {
    body = JSON.parse(text) as SqsBody;
  } catch {
    return { kind: 'refused', status, type: 'not JSON', message: text.slice(0, 200) };
  }
  if (status === 200) return { kind: 'ok', body };
  return { kind: 'refused', status, type: body.__type ?? 'no __type', message: body.message ?? '' };
}

/** A call that has to work at once; throws otherwise. */
export async function mustCall(
  url: string,
  action: string,
  input: Readonly<Record<string, unknown>>,
): Promise<SqsBody> {
  const answer = await call(url, action, input);
  if (answer.kind !== 'ok') throw new Error(`${action} on ${url}: ${JSON.stringify(answer)}`);
  return answer.body;
}

/** Visible, in flight and delayed, as the queue's attributes say. */
export async function queueCounts(url: string, QueueUrl: string): Promise<readonly number[]> {
  const { Attributes = {} } = await mustCall(url, 'GetQueueAttributes', {
    QueueUrl,
    AttributeNames: ['All'],
  });
  const names = ['', 'NotVisible', 'Delayed'];
  return names.map((suffix) => Number(Attributes[`ApproximateNumberOfMessages${suffix}`]));
}
