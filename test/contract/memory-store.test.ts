import { MemoryStore } from '../../src/store/memory-store.ts';
import { describeStore } from './store-contract.ts';

const store = new MemoryStore({ nowMillis: () => Date.now() });

describeStore({
  name: 'memory store',
  open: async () => ({ store, clients: Array.from({ length: 8 }, () => store) }),
  close: async () => {},
  conditionalDelete: true,
  keyMayBeFolder: true,
  clockSkewMillisMax: 5_000,
});
