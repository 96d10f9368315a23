/** Standard output as the protocol's alone. */
export interface ProtocolStdout {
  /** Resolves when there is room for more, and rejects when nobody reads. */
  write(line: string): Promise<void>;
  /** From here on everybody writes to it again. */
  giveBack(): void;
}

/**
 * Whatever else writes to standard output from here on, a dependency's `console.log` as it is loaded or a warning, goes to standard error.
 */
export function takeStdout(): ProtocolStdout {
  const { stdout, stderr } = process;
  const own = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return {
    write: (line) =>
      new Promise((resolve, reject) => {
        own(line, (error) => (error ? reject(error) : resolve()));
      }),
    giveBack: () => {
      stdout.write = own;
    },
  };
}
