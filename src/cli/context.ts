import type { Cloche } from "../sdk/cloche.ts";
import { createColours, wantsColour } from "./output/colour.ts";
import type { CommandTree, Context } from "./command.ts";
import { proseLines, toldLines } from "./output/told-lines.ts";
import { escapeName, formatJson, guardScreen } from "./output/escape.ts";
import { createInterruption } from "./terminal/interruption.ts";
import type { CliIo } from "./io.ts";
import type { OptionSpecs, Values } from "./arguments/option-spec.ts";
import type { ParsedArguments } from "./arguments/parse-arguments.ts";
import { reportTo } from "./output/progress.ts";
import { terminalSize } from "./terminal/terminal-size.ts";
import { writeAll } from "./output/write-all.ts";

export interface OpenContext {
  readonly context: Context;
  /** Resolves to the exit code when a signal came while the terminal showed progress; the daemon ends what its client left. */
  readonly interrupted: Promise<number>;
  /** Closes the client, if one was opened. Never throws. */
  close(): Promise<void>;
}

export function openContext(io: CliIo, tree: CommandTree, parsed: ParsedArguments): OpenContext {
  let client: Promise<Cloche> | undefined;
  const progress = reportTo(io.stderr, parsed.verbose);
  const note = (text: string) => {
    progress.clear();
    const [, label, said] = /^(note:|hint:|warning:) (.*)$/s.exec(text) ?? [];
    const lines =
      label === undefined || said === undefined
        ? proseLines(escapeName(text), io.stderr)
        : toldLines(label, label, escapeName(said), io.stderr);
    io.stderr.write(`${lines.join("\n")}\n`);
  };
  const interruption = createInterruption(io, () => note("cancelled"));
  // A command in a sandbox gets the signals itself.
  const watchSignals = io.stderr.isTTY === true && parsed.command.length === 0;
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
      const shown = parsed.json ? formatJson(document) : human();
      const text = onTerminal ? guardScreen(shown) : shown;
      if (text !== "") await writeAll(io.stdout, text.endsWith("\n") ? text : `${text}\n`);
    },
    note,
    onProgress(step) {
      if (watchSignals) interruption.listen();
      progress.report(step);
    },
    endProgress() {
      // Who comes next has signals of its own: an agent gets Ctrl-C itself, and its client stays to tell what became of it.
      interruption.stop();
      progress.clear();
    },
  };
  return {
    context,
    interrupted: interruption.ended,
    async close() {
      interruption.stop();
      progress.clear();
      try {
        await (await client)?.close();
      } catch {
        // The result is told by now; a connection that cannot be closed changes nothing about it.
      }
    },
  };
}
