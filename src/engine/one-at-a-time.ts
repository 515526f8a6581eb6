/** Work that takes much memory: what comes while some is done waits for its turn. */
import { afterwards } from './afterwards.ts';

export class OneAtATime {
  #last: Promise<void> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let done = () => {};
    this.#last = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    return afterwards(work(), done);
  }
}
