import { createReadStream } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { LineSplitter } from "../base/line-splitter.ts";

const NEWLINE = 10;

/**
 * The lines of a file with their ends, some at a time; one that was cut off has none. No line where there is no file. A line ends with a line feed and with nothing
 * else: what an agent said may hold other characters that count as line breaks elsewhere.
 */
export async function* readLines(path: string): AsyncGenerator<string[], void> {
  const found: string[] = [];
  let isCut = false;
  const splitter = new LineSplitter({ onLine: (line) => found.push(`${line.toString("utf8")}\n`) });
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      splitter.push(chunk);
      isCut = chunk.at(-1) !== NEWLINE;
      if (found.length > 0) yield found.splice(0);
    }
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
  if (!isCut) return;
  splitter.push(Buffer.from([NEWLINE]));
  yield [found.join("").slice(0, -1)];
}
