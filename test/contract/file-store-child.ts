/**
 * A process of its own with a file store, for tests that kill it.
 *
 *   hold FOLDER     takes the folder and keeps it
 *   count FOLDER    counts in one object by compare-and-swap, and puts an object for each number
 *
 * Each line it prints is one JSON value: {held}, {refused: message} or {counted}.
 */
import { FileStore } from '../../src/store/file-store.ts';
import { StoreError } from '../../src/store/object-store.ts';

const [task, folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('which folder?');

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function open(path: string): Promise<FileStore | undefined> {
  try {
    const store = await FileStore.open({ folder: path, onWait: (waiting) => print({ waiting }) });
    print({ held: process.pid });
    return store;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    print({ refused: error.message });
    return undefined;
  }
}

async function count(store: FileStore): Promise<never> {
  const number = (value: number) => new TextEncoder().encode(String(value).padStart(100_000, ' '));
  for (;;) {
    const got = await store.get('counter');
    const next = got.kind === 'done' ? Number(new TextDecoder().decode(got.body)) + 1 : 1;
    const etag = got.kind === 'done' ? got.etag : undefined;
    await store.put(`numbers/${next}/object`, number(next));
    const outcome =
      etag === undefined
        ? await store.putIfAbsent('counter', number(next))
        : await store.putIfMatch('counter', number(next), etag);
    if (outcome.kind !== 'done') throw new Error(`the count answered ${outcome.kind}`);
    print({ counted: next });
  }
}

const store = await open(folder);
if (store !== undefined) {
  // The lock keeps no process alive. This does, and ends with the test that started it.
  process.stdin.once('end', () => process.exit()).resume();
  if (task === 'count') await count(store);
}
