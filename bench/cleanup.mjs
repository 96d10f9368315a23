import process from "node:process";

/** What has to be undone, in reverse order, whatever happens. */
export class Cleanup {
  /** @type {{ what: string, undo: () => Promise<unknown> }[]} */
  #steps = [];
  /** @type {Promise<string[]> | undefined} */
  #running;

  /** @param {string} what @param {() => Promise<unknown>} undo */
  add(what, undo) {
    this.#steps.push({ what, undo });
  }

  /** Undoes everything once; one failure does not keep the rest. Gives what failed. */
  run() {
    return (this.#running ??= this.#undoAll());
  }

  async #undoAll() {
    const failed = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        failed.push(`${step.what}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return failed;
  }

  /** Also on Ctrl-C and when somebody ends us; a second Ctrl-C changes nothing, the clean-up goes on. */
  onSignals() {
    for (const [signal, code] of /** @type {const} */ ([
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ])) {
      process.on(signal, () => {
        process.stderr.write("stopping and cleaning up …\n");
        void this.run().then((failed) => {
          for (const line of failed) process.stderr.write(`left behind: ${line}\n`);
          process.exit(code);
        });
      });
    }
  }
}
