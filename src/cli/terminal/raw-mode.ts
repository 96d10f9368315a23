import type { CommandStream } from "../../sdk/options.ts";
import type { CliIo } from "../io.ts";
import { terminalSize } from "./terminal-size.ts";

/** Hands the terminal to the command: keys go through as they are, and a new window size is told. Returns what undoes it. */
export function enterRawMode({ stdin, stdout }: CliIo, stream: Pick<CommandStream, "resize">): () => void {
  const resize = () => {
    stream.resize(terminalSize(stdout)).catch(() => undefined);
  };
  stdin.setRawMode?.(true);
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    stdin.setRawMode?.(false);
  };
}
