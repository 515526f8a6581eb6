/**
 * One node in memory whose time and randomness are given: the same requests get the same answers, byte for byte, with
 * the same receipt handles, which a recorded client has signed into its later requests.
 * Each kind of draw has a stream of its own, so that a part of the engine that waits a drawn while more or less changes no
 * handle.
 *
 * Time is the client's: a request finds the clock where its own signature says (never put back), and while it waits,
 * virtual time jumps to what it waits for. Requests come one after the other.
 */
import type { Log, Random } from '../../../src/engine/environment.ts';
import { createQueueService, type Engine } from '../../../src/engine/queue-service.ts';
import { currentPlatform } from '../../../src/runtime/current-platform.ts';
import type { HttpHandler } from '../../../src/runtime/http-handler.ts';
import { createSqsSurface } from '../../../src/runtime/sqs-surface.ts';
import { MemoryStore } from '../../../src/store/memory-store.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Answer, headersOf, type Request, requestTime, sentBytes } from './session.ts';

export const accessKeyId = 'AKIAIOSFODNN7EXAMPLE';
export const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
export const region = 'eu-central-1';

const accountId = '000000000000';
const SEED = 6;
const platform = await currentPlatform();
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function drawnApart(): Random {
  const pauses = new SeededRandom(SEED);
  const byLength = new Map<number, SeededRandom>();
  return {
    unit: () => pauses.unit(),
    bytes(count) {
      const stream = byLength.get(count) ?? new SeededRandom(SEED + count);
      byLength.set(count, stream);
      return stream.bytes(count);
    },
  };
}

export class SessionNode {
  /** What the surface called a mistake of ours. */
  readonly failures: unknown[] = [];
  readonly #clock = new VirtualClock();
  readonly #engine: Engine;
  readonly #handler: HttpHandler;
  #requests = 0;

  constructor() {
    const clock = this.#clock;
    const store = new MemoryStore({ nowMillis: () => clock.wallMillis() });
    const settings = { accountId, region, lingerMillis: 0, cooldowns: false };
    this.#engine = createQueueService(
      { clock, store, random: drawnApart(), log: silent },
      { ...settings, conditionalDelete: true, listTags: true },
    );
    this.#handler = createSqsSurface({
      service: this.#engine.service,
      credentialOf: (id) => (id === accessKeyId ? { secretAccessKey } : undefined),
      digests: platform.digests,
      accountId,
      region,
      trustProxy: false,
      nowMillis: () => clock.wallMillis(),
      requestId: () => `00000000-0000-4000-8000-${String(this.#requests).padStart(12, '0')}`,
      log: (message, fields) => this.failures.push({ message, ...fields }),
    }).handler;
  }

  async answer(request: Request): Promise<Answer> {
    this.#requests += 1;
    await this.#clock.advance(Math.max(0, requestTime(request) - this.#clock.wallMillis()));
    const { method, target } = request;
    const { signal } = new AbortController();
    const answer = await this.#clock.runUntil(
      this.#handler({ method, target, headers: headersOf(request), body: sentBytes(request), signal }),
    );
    const { status, headers, body } = answer;
    return { status, headers, body: typeof body === 'string' ? body : new TextDecoder().decode(body) };
  }

  stop(): Promise<void> {
    return this.#clock.runUntil(this.#engine.stop());
  }
}
