import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStore } from '../../src/store/file-store.ts';
import { describeStore } from './store-contract.ts';

let folder = '';
let store: FileStore | undefined;

describeStore({
  name: 'file store',
  open: async () => {
    folder = await mkdtemp(join(tmpdir(), 'okuri-contract-'));
    const opened = await FileStore.open({ folder });
    store = opened;
    return { store: opened, clients: Array.from({ length: 8 }, () => opened) };
  },
  close: async () => {
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  },
  conditionalDelete: true,
  keyMayBeFolder: true,
  clockSkewMillisMax: 5_000,
});
