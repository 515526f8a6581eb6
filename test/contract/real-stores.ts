/**
 * The contract and the start-up probe on real S3 servers. Not part of `npm test`, which needs nothing but Node.
 *
 *   node --import tsx test/contract/real-stores.ts [versitygw] [moto] [seaweedfs]     (default: the first two)
 *
 * REAL_STORES_PORT is the first of the ports that are used on the loopback interface.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { probeStore } from '../../src/store/probe.ts';
import { S3Store } from '../../src/store/s3-store.ts';
import { startMoto } from '../stores/moto.ts';
import { startSeaweedfs } from '../stores/seaweedfs.ts';
import type { RunningStore } from '../stores/server-process.ts';
import { startVersitygw } from '../stores/versitygw.ts';
import { describeStore } from './store-contract.ts';

interface RealStore {
  start(port: number, dir: string): Promise<RunningStore>;
  readonly conditionalDelete: boolean;
  readonly keyMayBeFolder: boolean;
}

const STORES: Readonly<Record<string, RealStore>> = {
  versitygw: {
    start: (port, dir) => startVersitygw({ port, dir }),
    conditionalDelete: true,
    keyMayBeFolder: false,
  },
  moto: { start: (port) => startMoto({ port }), conditionalDelete: true, keyMayBeFolder: true },
  seaweedfs: {
    start: (port, dir) => startSeaweedfs({ port, dir }),
    conditionalDelete: true,
    keyMayBeFolder: false,
  },
};

const CLIENTS = 8;
const PORTS_EACH = 10;
/** Seconds are cut off in the times that S3 tells. */
const CLOCK_SKEW_MILLIS_MAX = 5_000;

let port = Number(process.env.REAL_STORES_PORT ?? '19500');
const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? ['versitygw', 'moto'] : asked) {
  const real = STORES[name];
  if (real === undefined) throw new Error(`no store is called ${name}: ${Object.keys(STORES).join(', ')}`);
  describeReal(name, real, port);
  port += PORTS_EACH;
}

function describeReal(name: string, real: RealStore, firstPort: number): void {
  let server: RunningStore | undefined;
  let folder = '';
  const stores: S3Store[] = [];
  const openStore = (running: RunningStore) => {
    const { endpoint, region, accessKeyId, secretAccessKey } = running;
    const store = new S3Store({
      bucket: 'okuri-contract',
      prefix: '/tests/',
      endpoint,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    stores.push(store);
    return store;
  };
  let opened: Promise<S3Store> | undefined;
  const open = () => {
    opened ??= (async () => {
      folder = await mkdtemp(join(tmpdir(), 'okuri-real-'));
      server = await real.start(firstPort, folder);
      const store = openStore(server);
      await store.createBucket();
      // Twice: the option to create the bucket stays set when okuri starts again.
      await store.createBucket();
      return store;
    })();
    return opened;
  };

  describe(`${name}: probe`, () => {
    it('is accepted, with what it can do known', async () => {
      const store = await open();
      const result = await probeStore(store, { nonce: randomBytes(16), adapter: store });
      assert.deepEqual(result, {
        ok: true,
        conditionalDelete: real.conditionalDelete,
        listTags: true,
        ifMatchForm: 'as-received',
        warnings: result.ok && !real.conditionalDelete ? result.warnings : [],
      });
      assert.deepEqual((await store.list({ prefix: 'probe/' })).objects, []);
    });
  });

  describeStore({
    name,
    open: async () => {
      const store = await open();
      return { store, clients: Array.from({ length: CLIENTS }, () => openStore(server!)) };
    },
    close: async () => {
      for (const store of stores) store.close();
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
    conditionalDelete: real.conditionalDelete,
    keyMayBeFolder: real.keyMayBeFolder,
    clockSkewMillisMax: CLOCK_SKEW_MILLIS_MAX,
  });
}
