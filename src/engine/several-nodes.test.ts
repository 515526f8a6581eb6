/**
 * Several processes on one bucket, with faults drawn by a seed: whatever the schedule, an answered send is there
 * once, an unavailable one at most once, and nothing comes back after an answered delete by its last holder.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  answerLost,
  type Fault,
  refused,
  requestLost,
  sentTwice,
} from '../../test/support/scripted-store.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { scenario, second, type TestNode, type World } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

class Play {
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly #nodes: TestNode[];
  readonly answered = new Set<string>();
  readonly attempted = new Set<string>();
  /** Bodies whose delete was answered while its holder was the last. */
  readonly deleted = new Set<string>();
  /** Bodies that somebody tried to delete. */
  readonly #deleting = new Set<string>();
  #sent = 0;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = new SeededRandom(seed);
    this.#nodes = [0, 5, 20].map((lingerMillis) => world.startNode({ lingerMillis }));
  }

  async start(): Promise<void> {
    await this.#nodes[0]!.create('q', { VisibilityTimeout: '2' });
    for (const node of this.#nodes) {
      node.store.latencyMillis = 5 + Math.floor(this.#random.unit() * 40);
      for (let n = 0; n < 12; n++) {
        const skip = Math.floor(this.#random.unit() * 60);
        node.store.script({ method: 'putIfMatch', key: manifestKey('q'), skip }, this.#fault());
      }
      const skip = Math.floor(this.#random.unit() * 20);
      node.store.script({ method: 'get', key: manifestKey('q'), skip, times: 2 }, refused);
    }
  }

  #fault(): Fault {
    const faults: readonly Fault[] = [answerLost, requestLost, sentTwice, refused, this.#slow];
    return faults[Math.floor(this.#random.unit() * faults.length)]!;
  }

  /** Lands long after the client gave up. */
  readonly #slow: Fault = async ({ land }) => {
    void this.#world.clock.sleep(300).then(land);
    return { kind: 'unknown', throttled: false, reason: 'scripted' };
  };

  async client(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const node = this.#nodes[Math.floor(this.#random.unit() * this.#nodes.length)]!;
      try {
        if (this.#random.unit() < 0.5) await this.#send(node);
        else await this.#consume(node);
      } catch (error) {
        assert.ok(error instanceof Unavailable, String(error));
      }
      await this.#world.clock.sleep(this.#random.unit() * 60);
    }
  }

  async #send(node: TestNode): Promise<void> {
    const body = `m${this.#sent++}`;
    this.attempted.add(body);
    const outcome = await node.sending('q', body);
    if (outcome.kind === 'done') this.answered.add(body);
  }

  async #consume(node: TestNode): Promise<void> {
    const messages = await node.receiving('q', {
      waitSeconds: this.#random.unit() < 0.3 ? 1 : 0,
      maxMessages: 3,
    });
    for (const { message } of messages)
      assert.ok(!this.deleted.has(message.body), `${message.body} came back after its delete`);
    if (messages.length === 0 || this.#random.unit() < 0.3) return;
    const other = this.#nodes[Math.floor(this.#random.unit() * this.#nodes.length)]!;
    for (const { message } of messages) this.#deleting.add(message.body);
    await other.deleting('q', ...messages);
    for (const { message, receiveCount } of messages) {
      const superseded = await this.#isThere(message.body);
      if (!superseded) this.deleted.add(message.body);
      else assert.ok(superseded > receiveCount, `the delete of ${message.body} was answered and did nothing`);
    }
  }

  /** Its receive count in the bucket, when it is there. */
  async #isThere(body: string): Promise<number | undefined> {
    const { tail, deliveries } = await this.#world.state('q');
    for (const [sequence, { message }] of tail)
      if (message.body === body) return deliveries.get(sequence)?.receiveCount ?? 0;
    return undefined;
  }

  async finish(): Promise<void> {
    await this.#world.clock.advance(30 * second);
    const left = [...(await this.#world.state('q')).tail.values()].map(({ message }) => message.body);
    assert.equal(new Set(left).size, left.length, 'nothing is there twice');
    const alive = new Set(left);
    for (const body of left) {
      assert.ok(this.attempted.has(body));
      assert.ok(!this.deleted.has(body), `${body} is there after its delete`);
    }
    for (const body of this.answered)
      if (!alive.has(body)) assert.ok(this.#deleting.has(body), `${body} is lost`);
  }
}

describe('several nodes under faults', () => {
  for (let seed = 1; seed <= 12; seed++)
    scenario(`seed ${seed}: no message is lost, doubled or brought back`, async (world) => {
      const play = new Play(world, seed);
      await play.start();
      const clients = Array.from({ length: 6 }, () => play.client(30));
      await world.run(Promise.all(clients), 3600 * second);
      await play.finish();
      assert.ok(play.answered.size > 20 && play.deleted.size > 5, 'something happened');
    });
});
