/**
 * Folders that come and go under the objects: made durable before a file in them counts, removed when empty.
 *
 * A new folder is an entry in its parent, so the parent is synced too, once. Removing and creating may cross:
 * (1) a put finds the folder there; (2) a delete of the last other file removes it; (3) the put's mkdir below it
 * or its rename fails with ENOENT and it starts over. A folder with a file in it can't be removed, so after a rename it stays.
 */
import { mkdir, open, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';

export class DurableFolders {
  readonly #root: string;
  readonly #durable = new Map<string, Promise<void>>();

  /** @param root must exist and be durable; never removed. */
  constructor(root: string) {
    this.#root = root;
  }

  ensure(folder: string): Promise<void> {
    if (folder === this.#root) return Promise.resolve();
    let made = this.#durable.get(folder);
    if (made === undefined) {
      made = this.#make(folder);
      this.#durable.set(folder, made);
      made.catch(() => this.forget(folder));
    }
    return made;
  }

  /** After a file in `folder` turned out not to be possible: the next `ensure` looks again. */
  forget(folder: string): void {
    for (let each = folder; each !== this.#root; each = dirname(each)) this.#durable.delete(each);
  }

  async removeEmpty(folder: string): Promise<void> {
    for (let each = folder; each !== this.#root; each = dirname(each)) {
      this.#durable.delete(each);
      try {
        await rmdir(each);
      } catch {
        return;
      }
    }
  }

  async #make(folder: string): Promise<void> {
    const parent = dirname(folder);
    await this.ensure(parent);
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    await syncFolder(parent);
  }
}

/** Makes renames and removals in a folder durable. Windows can't and needn't: its rename is journalled. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
