/**
 * The file store against real processes: one owner, `kill -9`, takeover. Long, for the child processes and their end
 * are handled here and nowhere else.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { FileStore } from '../../src/store/file-store.ts';
import { StoreError } from '../../src/store/object-store.ts';
import { spawnAlike } from '../support/same-runtime.ts';

interface Line {
  readonly held?: number;
  readonly refused?: string;
  readonly waiting?: string;
  readonly counted?: number;
}

interface Child {
  readonly process: ChildProcess;
  /** All that it printed so far. */
  readonly lines: Line[];
  /** Resolves with the first line that fits, printed before or later. */
  line(fits: (line: Line) => boolean): Promise<Line>;
  /** `kill -9`, and waits for the end. */
  kill(): Promise<void>;
}

const PROGRAM = new URL('./file-store-child.ts', import.meta.url);
const TIMING = { heartbeatMillis: 50, takeoverMillis: 1_000, fenceMillis: 500 };

function start(task: 'hold' | 'count', folder: string): Child {
  const child = spawnAlike(PROGRAM, task, folder);
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  let ended = false;
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line);
    wake();
  });
  const exit = new Promise<void>((settle) => {
    child.once('close', () => {
      ended = true;
      wake();
      settle();
    });
  });
  return {
    process: child,
    lines,
    line: (fits) =>
      new Promise((settle, fail) => {
        const look = () => {
          const found = lines.find(fits);
          if (found === undefined && !ended) return;
          waiting.delete(look);
          if (found === undefined) fail(new Error(`ended after ${JSON.stringify(lines)}`));
          else settle(found);
        };
        waiting.add(look);
        look();
      }),
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

const decided = (line: Line) => line.held !== undefined || line.refused !== undefined;

async function withFolder(use: (folder: string, children: Child[]) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'okuri-processes-'));
  const children: Child[] = [];
  try {
    await use(folder, children);
  } finally {
    for (const child of children) await child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function refusal(folder: string): Promise<string> {
  const error: unknown = await FileStore.open({ folder }).then(
    async (store) => store.close(),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StoreError && !error.retryable, `not refused: ${String(error)}`);
  return error.message;
}

/** Must be found without watching the owner's heartbeat, which is for other machines. */
const noWait = {
  onWait: () => assert.fail('the start had to wait'),
};

async function newestRecord(folder: string): Promise<string> {
  const names = (await readdir(join(folder, 'lock'))).filter((name) => name.endsWith('.json'));
  assert.equal(names.length, 1, names.join(' '));
  return join(folder, 'lock', names[0]!);
}

describe('file store: one process per folder', () => {
  it('refuses a second process with the folder and its owner named', async () => {
    await withFolder(async (folder, children) => {
      const owner = start('hold', folder);
      children.push(owner);
      const { held } = await owner.line(decided);
      const message = await refusal(folder);
      assert.ok(message.includes(folder) && message.includes(`process ${held} `), message);
    });
  });

  it('refuses a second store in the same process, and opens again after a close', async () => {
    await withFolder(async (folder) => {
      const first = await FileStore.open({ folder });
      assert.match(await refusal(folder), new RegExp(`process ${process.pid} `));
      await first.put('key', new Uint8Array(1));
      await first.close();
      await assert.rejects(first.get('key'), StoreError);
      const second = await FileStore.open({ folder, ...noWait });
      assert.equal((await second.get('key')).kind, 'done');
      await second.close();
    });
  });

  it('takes over from a killed process at once, also when both have the same process id', async () => {
    await withFolder(async (folder, children) => {
      const owner = start('hold', folder);
      children.push(owner);
      await owner.line(decided);
      await owner.kill();
      // As when a container is started again: process 1 finds the record of process 1, which "lives".
      const path = await newestRecord(folder);
      const record = JSON.parse(await readFile(path, 'utf8')) as { pid: number };
      await writeFile(path, `${JSON.stringify({ ...record, pid: process.pid })}\n`);
      const store = await FileStore.open({ folder, ...noWait });
      assert.equal((await store.put('key', new Uint8Array(1))).kind, 'done');
      await store.close();
    });
  });

  it('leaves the folder to a stopped process, which is not a dead one', async () => {
    await withFolder(async (folder, children) => {
      const owner = start('hold', folder);
      children.push(owner);
      const { held } = await owner.line(decided);
      // Not owner.process.kill: on Deno a child takes one signal only.
      process.kill(held!, 'SIGSTOP');
      assert.match(await refusal(folder), new RegExp(`process ${held} `));
      process.kill(held!, 'SIGCONT');
    });
  });

  it('lets exactly one of several simultaneous starts in, on a new folder and after a kill', async () => {
    await withFolder(async (folder, children) => {
      for (let round = 0; round < 2; round += 1) {
        const starts = Array.from({ length: 3 }, () => start('hold', folder));
        children.push(...starts);
        const lines = await Promise.all(starts.map((child) => child.line(decided)));
        const winners = lines.filter((line) => line.held !== undefined);
        assert.equal(winners.length, 1, JSON.stringify(lines));
        for (const child of starts) await child.kill();
      }
    });
  });

  it('lets exactly one of many simultaneous starts of one process in', async () => {
    await withFolder(async (folder) => {
      for (let round = 0; round < 10; round += 1) {
        const starts = await Promise.allSettled(Array.from({ length: 8 }, () => FileStore.open({ folder })));
        const opened = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
        assert.equal(opened.length, 1);
        await opened[0]!.close();
      }
    });
  });
});

describe('file store: an owner of whom only the record is known', () => {
  /** As a process on another machine would leave it: no socket that this kernel could answer for. */
  const foreign = {
    nonce: 'foreign',
    pid: 1,
    host: 'elsewhere',
    since: '2026-01-01',
    kernel: 'other',
    device: '1',
  };

  async function writeForeign(folder: string, more: object): Promise<string> {
    const store = await FileStore.open({ folder });
    await store.close();
    const path = await newestRecord(folder);
    await writeFile(path, JSON.stringify({ ...foreign, ...more }));
    return path;
  }

  it('keeps the folder while its record changes', async () => {
    await withFolder(async (folder) => {
      const path = await writeForeign(folder, { beats: 0 });
      let beats = 0;
      const heart = setInterval(() => {
        beats += 1;
        void writeFile(path, JSON.stringify({ ...foreign, beats }));
      }, 50);
      try {
        assert.match(await refusal(folder), /process 1 on elsewhere/);
      } finally {
        clearInterval(heart);
      }
    });
  });

  it('loses it when its record stands still, or was never finished', async () => {
    await withFolder(async (folder) => {
      for (const record of [JSON.stringify({ ...foreign, beats: 7 }), '{"nonce": "cut o']) {
        await writeFile(await writeForeign(folder, {}), record);
        const waits: string[] = [];
        const store = await FileStore.open({
          folder,
          timing: TIMING,
          onWait: (message) => waits.push(message),
        });
        assert.equal(waits.length, 1);
        await store.close();
      }
    });
  });

  it('loses it at once when it has ended in good order', async () => {
    await withFolder(async (folder) => {
      await writeForeign(folder, { beats: 1, released: true });
      const store = await FileStore.open({ folder, ...noWait });
      await store.close();
    });
  });

  it('finds out that it lost the folder and writes no more', async () => {
    for (const lose of [
      async (folder: string) => rm(join(folder, 'lock'), { recursive: true }),
      async (folder: string) => writeFile(join(folder, 'lock', 'owner-99.json'), JSON.stringify(foreign)),
    ]) {
      await withFolder(async (folder) => {
        const lost: StoreError[] = [];
        const store = await FileStore.open({ folder, timing: TIMING, onLost: (error) => lost.push(error) });
        await lose(folder);
        // The heartbeat keeps no process alive; this does.
        while (lost.length === 0) await new Promise((wake) => setTimeout(wake, 10));
        assert.match(lost[0]!.message, /taken over/);
        await assert.rejects(store.put('key', new Uint8Array(1)), /taken over/);
        await assert.rejects(store.delete('key'), /taken over/);
        await assert.rejects(store.get('key'), /taken over/);
        await store.close();
        assert.equal(lost.length, 1);
      });
    }
  });
});

describe('file store: kill -9', () => {
  it('keeps every answered write, whole, and drops what was under way', async () => {
    await withFolder(async (folder, children) => {
      let last = 0;
      for (let round = 1; round <= 3; round += 1) {
        const counting = start('count', folder);
        children.push(counting);
        await counting.line((line) => (line.counted ?? 0) >= last + 20 * round);
        await counting.kill();
        const answered = counting.lines.at(-1)!.counted!;
        const store = await FileStore.open({ folder, ...noWait });
        last = await countedIn(store);
        assert.ok(last === answered || last === answered + 1, `${last} after an answered ${answered}`);
        for (let number = 1; number <= last; number += 1) {
          const got = await store.get(`numbers/${number}/object`);
          assert.ok(got.kind === 'done' && Number(new TextDecoder().decode(got.body)) === number);
        }
        assert.deepEqual(await readdir(join(folder, 'temp')), []);
        await store.close();
      }
    });
  });
});

async function countedIn(store: FileStore): Promise<number> {
  const got = await store.get('counter');
  assert.ok(got.kind === 'done');
  assert.equal(got.body.length, 100_000);
  return Number(new TextDecoder().decode(got.body));
}
