export type Pause = <Waited>(waiting: () => Promise<Waited>) => Promise<Waited>;

/** Limits how much work goes on at once. Further work waits, in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** `pause` is for work that waits for somebody else: its place is free meanwhile, and it goes on when there is one again. */
  async during<Result>(work: (pause: Pause) => Promise<Result>): Promise<Result> {
    if (!this.#isLetIn()) await this.#turn();
    try {
      return await work(async (waiting) => {
        this.#leave();
        try {
          return await waiting();
        } finally {
          if (!this.#isLetIn()) await this.#turn();
        }
      });
    } finally {
      this.#leave();
    }
  }

  /** At once where there is a free one. */
  #isLetIn(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  #turn(): Promise<void> {
    return new Promise((go) => this.#waiting.push(go));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
