/** The readable trace of a run, and its digest: two runs of one seed have the same lines. */
export interface Trace {
  /** Whether lines are wanted at all: building them costs more than the events they tell of. */
  readonly on: boolean;
  line(atMillis: number, text: string): void;
}

export const noTrace: Trace = { on: false, line: () => {} };

export class DigestTrace implements Trace {
  readonly on = true;
  lines = 0;
  readonly #print: ((line: string) => void) | undefined;
  #low = 0x811c9dc5 | 0;
  #high = 0x243f6a88 | 0;

  constructor(print?: (line: string) => void) {
    this.#print = print;
  }

  line(atMillis: number, text: string): void {
    const line = `${atMillis.toFixed(3).padStart(12)} ${text}`;
    this.lines++;
    for (let i = 0; i < line.length; i++) {
      const unit = line.charCodeAt(i);
      this.#low = Math.imul(this.#low ^ unit, 0x01000193);
      this.#high = (Math.imul(this.#high, 31) + unit) | 0;
    }
    this.#print?.(line);
  }

  get digest(): string {
    return [this.#low, this.#high].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
