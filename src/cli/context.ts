import type { Cloche } from "../sdk/cloche.ts";
import { createColours, wantsColour } from "./colour.ts";
import type { CommandTree, Context } from "./command.ts";
import { escapeName } from "./escape.ts";
import type { CliIo } from "./io.ts";
import type { OptionSpecs, Values } from "./option-spec.ts";
import type { ParsedArguments } from "./parse-arguments.ts";
import { reportTo } from "./progress.ts";
import { terminalSize } from "./terminal-size.ts";
import { writeAll } from "./write-all.ts";

export interface OpenContext {
  readonly context: Context;
  /** Closes the client, if one was opened. Never throws. */
  close(): Promise<void>;
}

export function openContext(io: CliIo, tree: CommandTree, parsed: ParsedArguments): OpenContext {
  let client: Promise<Cloche> | undefined;
  const progress = reportTo(io.stderr, parsed.verbose);
  const colours = createColours(!parsed.json && wantsColour(io.stdout, io.env));
  const onTerminal = io.stdout.isTTY === true;
  const context: Context = {
    io,
    tree,
    json: parsed.json,
    verbose: parsed.verbose,
    values: parsed.values as Values<OptionSpecs>,
    command: parsed.command,
    words: parsed.words,
    colours,
    layout: { width: onTerminal ? terminalSize(io.stdout).cols : Infinity, bold: colours.bold },
    onTerminal,
    argument: (name) => {
      const value = parsed.positionals[name];
      if (value === undefined) throw new TypeError(`no positional ${name} in the command's definition`);
      return value;
    },
    optionalArgument: (name) => parsed.positionals[name],
    connect: () => (client ??= io.connect()),
    async print(document, human) {
      progress.clear();
      const text = parsed.json ? JSON.stringify(document, null, 2) : human();
      if (text !== "") await writeAll(io.stdout, text.endsWith("\n") ? text : `${text}\n`);
    },
    note(text) {
      progress.clear();
      io.stderr.write(`${escapeName(text)}\n`);
    },
    onProgress: progress.report,
    endProgress: progress.clear,
  };
  return {
    context,
    async close() {
      progress.clear();
      try {
        await (await client)?.close();
      } catch {
        // The result is told by now; a connection that cannot be closed changes nothing about it.
      }
    },
  };
}
