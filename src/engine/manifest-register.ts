/**
 * The register of one queue name, with contents decoded: a queue's state, a tombstone, or nothing.
 */
import type { ManifestContent, QueueState, TailMessage } from '../core/queue-state.ts';
import { decodeManifestObject, encodeManifest, encodeTombstone } from '../format/manifest-codec.ts';
import { manifestKey } from '../format/object-keys.ts';
import type { ETag } from '../store/object-store.ts';
import type { Environment } from './environment.ts';
import { Unavailable } from './queue-api.ts';
import { Register, type SwapResult } from './register.ts';

export interface ObservedContent {
  readonly content: ManifestContent;
  readonly etag: ETag;
  readonly observedFrom: number;
}

export interface ObservedQueue {
  readonly state: QueueState;
  readonly etag: ETag;
  readonly observedFrom: number;
}

export type ManifestRead =
  | ({ readonly kind: 'present' } & ObservedContent)
  | { readonly kind: 'unchanged'; readonly observedFrom: number }
  | { readonly kind: 'absent'; readonly observedFrom: number };

const nonceBytes = 16;

export class ManifestRegister {
  readonly #environment: Environment;
  readonly #name: string;
  readonly #register: Register;

  constructor(environment: Environment, name: string) {
    this.#environment = environment;
    this.#name = name;
    this.#register = new Register(environment.store, environment.clock, manifestKey(name));
  }

  /**
   * `knownTail` saves decoding again what did not change.
   * @throws StoreError; Unavailable when the object is damaged or written in a newer format.
   */
  async read(knownTag?: ETag, knownTail?: ReadonlyMap<number, TailMessage>): Promise<ManifestRead> {
    const result = await this.#register.read(knownTag);
    if (result.kind !== 'present') return result;
    const { bytes, etag, observedFrom } = result.observed;
    const decoded = decodeManifestObject(bytes, knownTail);
    switch (decoded.kind) {
      case 'ok':
        return { kind: 'present', content: decoded.content, etag, observedFrom };
      case 'newer':
        throw new Unavailable(
          `queue ${this.#name} is written in format ${decoded.formatVersion}, newer than this node understands`,
        );
      case 'damaged':
        this.#environment.log.error('manifest is damaged', { queue: this.#name, reason: decoded.reason });
        throw new Unavailable(`the manifest of queue ${this.#name} is damaged`);
    }
  }

  /** The queue that is there now, or undefined. @throws as `read` */
  async readQueue(): Promise<ObservedQueue | undefined> {
    const result = await this.read();
    if (result.kind !== 'present' || result.content.kind !== 'queue') return undefined;
    return { state: result.content.state, etag: result.etag, observedFrom: result.observedFrom };
  }

  /** @throws StoreError */
  swap(expected: ETag | undefined, content: ManifestContent): Promise<SwapResult> {
    const nonce = this.#environment.random.bytes(nonceBytes);
    const bytes =
      content.kind === 'queue'
        ? encodeManifest(content.state, nonce)
        : encodeTombstone(content.tombstone, nonce);
    return this.#register.swap(expected, bytes);
  }
}
