/** Installs a pinned test server once, whole or not at all, also when several programs ask at the same time. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHE_FOLDER } from './server-process.ts';

/**
 * @param name with the version in it: another version is another folder.
 * @param build fills the folder it is given. Must not depend on the folder's place: it is renamed afterwards.
 * @returns the folder with what was built.
 */
export async function installOnce(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE_FOLDER, name);
  if (await exists(folder)) return folder;
  await mkdir(CACHE_FOLDER, { recursive: true });
  const building = await mkdtemp(join(CACHE_FOLDER, 'building-'));
  try {
    await build(building);
    await rename(building, folder);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    // Another program was faster; what it built is the same.
    if (!(await exists(folder))) throw error;
  }
  return folder;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
