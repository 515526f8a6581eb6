/** One task at a time for each key, in order of arrival; tasks of different keys don't wait for each other. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    // `before` is told apart from its failure: a task that failed doesn't fail the next one.
    const mine = before === undefined ? task() : before.then(task, task);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  /** Resolves when everything that was running or waiting at the call has ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
