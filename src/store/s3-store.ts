/**
 * Objects in a bucket of S3 or a store that speaks its protocol, through @aws-sdk/client-s3.
 *
 * - One call is one request. The SDK's retries are off: a conditional write that is repeated below the commit loop
 *   would answer 412 to its own success. The one exception, RequestTimeTooSkewed, provably wrote nothing.
 * - One deadline spans the whole call, from finding credentials to the last byte of the body. At the deadline the
 *   request is aborted, so no response is left undrained and no socket is lost.
 * - Tags go back as they came, unless the probe found that the store wants another form (`ifMatchForm`).
 * - No failure is interpreted here: s3-outcomes.ts has the table.
 *
 * The SDK takes 100 ms to load: import this file only when a bucket is configured.
 */
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  type DeleteObjectCommandInput,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import { assertKey, assertListRequest, LIST_LIMIT_MAX } from './key-rules.ts';
import {
  type DeleteIfMatchOutcome,
  type DeleteOutcome,
  type ETag,
  type GetOutcome,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
  type StoreTime,
} from './object-store.ts';
import type { IfMatchForm, ProbedAdapter, Versioning } from './probe.ts';
import { clientConfig, inForm, REQUEST_TIMEOUT_MILLIS, type S3StoreOptions } from './s3-client.ts';
import { failureOf, type S3Operation, type S3Verdict, verdict } from './s3-outcomes.ts';

export type { S3StoreOptions } from './s3-client.ts';

const DATE_RESOLUTION_MILLIS = 1_000;

type Landed<Output> = { readonly kind: 'done'; readonly output: Output };

export class S3Store implements ObjectStore, ProbedAdapter {
  /** Set by the start-up probe. */
  ifMatchForm: IfMatchForm = 'as-received';

  readonly #client: S3Client;
  readonly #options: S3StoreOptions;
  readonly #prefix: string;
  readonly #timeoutMillis: number;
  readonly #headers = new WeakMap<object, Readonly<Record<string, string>>>();

  constructor(options: S3StoreOptions) {
    this.#options = options;
    const prefix = (options.prefix ?? '').replace(/^\/+|\/+$/g, '');
    if (prefix !== '') assertKey(prefix);
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#timeoutMillis = options.requestTimeoutMillis ?? REQUEST_TIMEOUT_MILLIS;
    this.#client = new S3Client(clientConfig(options));
    this.#client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
        if (headers !== undefined && result.output !== undefined) this.#headers.set(result.output, headers);
        return result;
      },
      { step: 'deserialize', priority: 'high', name: 'okuriResponseHeaders' },
    );
  }

  close(): void {
    this.#client.destroy();
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    const input = {
      ...this.#object(key),
      ...(options?.ifNoneMatch === undefined ? {} : { IfNoneMatch: options.ifNoneMatch }),
    };
    const result = await this.#send('get', async (abortSignal) => {
      const response = await this.#client.send(new GetObjectCommand(input), { abortSignal });
      return { response, body: (await response.Body?.transformToByteArray()) ?? new Uint8Array(0) };
    });
    if (result.kind === 'unchanged' || result.kind === 'missing') return result;
    const { response, body } = landed('get', result);
    const declared = response.ContentLength;
    if (declared !== undefined && declared !== body.length) {
      throw new StoreError(`${key}: ${body.length} of ${declared} bytes arrived`, { retryable: true });
    }
    const lastModified = storeTime(response.LastModified);
    if (response.ETag === undefined || lastModified === undefined) {
      throw new StoreError('the object store answers a GET without ETag or Last-Modified', {
        retryable: false,
      });
    }
    return { kind: 'done', body, etag: response.ETag as ETag, lastModified };
  }

  async put(key: string, body: Uint8Array): Promise<PutOutcome> {
    const outcome = await this.#put('put', { ...this.#object(key), Body: body });
    return outcome.kind === 'done' || outcome.kind === 'unknown' ? outcome : unexpected('put', outcome.kind);
  }

  async putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    const outcome = await this.#put('put-if-absent', { ...this.#object(key), Body: body, IfNoneMatch: '*' });
    return outcome.kind === 'missing' ? unexpected('put-if-absent', outcome.kind) : outcome;
  }

  async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    const IfMatch = inForm(etag, this.ifMatchForm);
    return this.#put('put-if-match', { ...this.#object(key), Body: body, IfMatch });
  }

  async list(request: ListRequest): Promise<ListPage> {
    assertListRequest(request);
    const input = {
      Bucket: this.#options.bucket,
      Prefix: this.#prefix + request.prefix,
      MaxKeys: request.limit ?? LIST_LIMIT_MAX,
      ...(request.startAfter === undefined ? {} : { StartAfter: this.#prefix + request.startAfter }),
    };
    const result = await this.#send('list', (abortSignal) =>
      this.#client.send(new ListObjectsV2Command(input), { abortSignal }),
    );
    const page = landed('list', result);
    const objects = (page.Contents ?? []).map(({ Key, Size, ETag, LastModified }) => {
      const lastModified = storeTime(LastModified);
      if (Key === undefined || Size === undefined || ETag === undefined || lastModified === undefined) {
        throw new StoreError('the object store lists objects without key, size, tag or time', {
          retryable: false,
        });
      }
      return { key: Key.slice(this.#prefix.length), bytes: Size, etag: ETag as ETag, lastModified };
    });
    return { objects, truncated: page.IsTruncated === true };
  }

  async delete(key: string): Promise<DeleteOutcome> {
    const outcome = await this.#delete('delete', this.#object(key));
    if (outcome.kind === 'missing') return { kind: 'done' };
    return outcome.kind === 'conflict' ? unexpected('delete', outcome.kind) : outcome;
  }

  async deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    return this.#delete('delete-if-match', { ...this.#object(key), IfMatch: inForm(etag, this.ifMatchForm) });
  }

  /** Whether the bucket keeps every version for ever; `unknown` where the store or the policy doesn't tell. */
  async versioning(): Promise<Versioning> {
    try {
      const { output } = await this.#timed((abortSignal) =>
        this.#client.send(new GetBucketVersioningCommand({ Bucket: this.#options.bucket }), { abortSignal }),
      );
      return output.Status === undefined ? 'off' : output.Status === 'Enabled' ? 'enabled' : 'suspended';
    } catch {
      return 'unknown';
    }
  }

  /** Makes the bucket unless it is there and ours. @throws StoreError otherwise. */
  async createBucket(): Promise<void> {
    const { bucket, region, endpoint } = this.#options;
    // Outside us-east-1 AWS wants the region named again; others may not know the names.
    const elsewhere = endpoint === undefined && region !== undefined && region !== 'us-east-1';
    const input = {
      Bucket: bucket,
      ...(elsewhere ? { CreateBucketConfiguration: { LocationConstraint: region as 'eu-west-1' } } : {}),
    };
    try {
      await this.#timed((abortSignal) => this.#client.send(new CreateBucketCommand(input), { abortSignal }));
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === 'BucketAlreadyOwnedByYou') return;
      const retryable = failure.status === undefined || failure.status >= 500;
      throw new StoreError(`creating the bucket ${bucket} failed: ${failure.code} ${failure.message}`, {
        retryable,
        cause: error,
      });
    }
  }

  async #put(operation: S3Operation, input: PutObjectCommandInput): Promise<PutIfMatchOutcome> {
    const result = await this.#send(operation, (abortSignal) =>
      this.#client.send(new PutObjectCommand({ ...input, ContentType: 'application/octet-stream' }), {
        abortSignal,
      }),
    );
    if (result.kind === 'conflict' || result.kind === 'missing' || result.kind === 'unknown') return result;
    const output = landed(operation, result);
    if (output.ETag === undefined) {
      return { kind: 'unknown', throttled: false, reason: `${operation}: answered without an ETag` };
    }
    return { kind: 'done', etag: output.ETag as ETag, time: this.#timeOf(output) };
  }

  async #delete(operation: S3Operation, input: DeleteObjectCommandInput): Promise<DeleteIfMatchOutcome> {
    const result = await this.#send(operation, (abortSignal) =>
      this.#client.send(new DeleteObjectCommand(input), { abortSignal }),
    );
    if (result.kind === 'conflict' || result.kind === 'missing' || result.kind === 'unknown') return result;
    landed(operation, result);
    return { kind: 'done' };
  }

  async #send<Output>(
    operation: S3Operation,
    request: (signal: AbortSignal) => Promise<Output>,
  ): Promise<Landed<Output> | S3Verdict> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#timed(request);
      } catch (error) {
        const outcome = verdict(operation, failureOf(error));
        // The SDK has set its signing clock by the Date of this answer, so a second try is signed with the right time.
        if (outcome.kind !== 'skewed' || attempt === 2) return outcome;
      }
    }
  }

  async #timed<Output>(request: (signal: AbortSignal) => Promise<Output>): Promise<Landed<Output>> {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<never>((_, fail) => {
      timer = setTimeout(() => {
        controller.abort();
        fail(new Error(`no complete answer within ${this.#timeoutMillis} ms`));
      }, this.#timeoutMillis);
    });
    const answer = request(controller.signal);
    // The deadline may win: what the aborted request says afterwards is of no interest.
    answer.catch(() => {});
    try {
      return { kind: 'done', output: await Promise.race([answer, deadline]) };
    } catch (error) {
      controller.abort();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string } {
    assertKey(key);
    return { Bucket: this.#options.bucket, Key: this.#prefix + key };
  }

  /** `Date` is the store's clock only in an answer that no cache kept. */
  #timeOf(output: object): StoreTime | undefined {
    const headers = this.#headers.get(output);
    if (headers?.date === undefined || headers.age !== undefined) return undefined;
    return storeTime(new Date(headers.date));
  }
}

function storeTime(date: Date | undefined): StoreTime | undefined {
  const millis = date?.getTime();
  return millis === undefined || Number.isNaN(millis)
    ? undefined
    : { millis, resolutionMillis: DATE_RESOLUTION_MILLIS };
}

function landed<Output>(operation: S3Operation, result: Landed<Output> | S3Verdict): Output {
  if (result.kind === 'done') return result.output;
  if (result.kind === 'error') throw result.error;
  if (result.kind === 'skewed') {
    throw new StoreError('the object store refuses our clock (RequestTimeTooSkewed), also after correction', {
      retryable: true,
    });
  }
  return unexpected(operation, result.kind);
}

/** The table answered an outcome that this operation hasn't: our own mistake. */
function unexpected(operation: S3Operation, kind: string): never {
  throw new Error(`assertion failed: ${operation} answered ${kind}`);
}
