import type { CommandStream } from "../../sdk/options.ts";
import type { InputStream } from "../io.ts";

/** Passes our standard input on, no faster than the command takes it. Goes on by itself; the command's end is what counts. */
export function feedInput(input: InputStream, stream: Pick<CommandStream, "write" | "endInput">): void {
  const copy = async () => {
    for await (const chunk of input) await stream.write(chunk as Buffer);
  };
  copy()
    // Input that cannot be read (a folder, a closed terminal) is an empty one; a command that ended takes no more.
    .catch(() => undefined)
    .finally(() => stream.endInput());
}
