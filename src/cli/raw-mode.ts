import type { CommandStream } from "../sdk/options.ts";
import type { CliIo } from "./io.ts";

/** Hands the terminal to the command: keys go through as they are, and a new window size is told. Returns what undoes it. */
export function enterRawMode({ stdin, stdout }: CliIo, stream: CommandStream): () => void {
  const resize = () => {
    stream.resize({ cols: stdout.columns ?? 80, rows: stdout.rows ?? 24 }).catch(() => undefined);
  };
  stdin.setRawMode?.(true);
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    stdin.setRawMode?.(false);
  };
}
