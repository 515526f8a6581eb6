/** A collection that is copied at its first change: what a state shares with its successor. */
export class Copied<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  #copy: Map<K, V> | undefined;

  constructor(base: ReadonlyMap<K, V>) {
    this.#base = base;
  }

  get current(): ReadonlyMap<K, V> {
    return this.#copy ?? this.#base;
  }

  get changed(): boolean {
    return this.#copy !== undefined;
  }

  set(key: K, value: V): void {
    this.#writable().set(key, value);
  }

  delete(key: K): boolean {
    return this.current.has(key) && this.#writable().delete(key);
  }

  replace(next: Map<K, V>): void {
    this.#copy = next;
  }

  #writable(): Map<K, V> {
    this.#copy ??= new Map(this.#base);
    return this.#copy;
  }
}
