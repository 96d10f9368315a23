import { errnoOf } from "../base/errors.ts";
import { BROKEN_PIPE_EXIT } from "./output/broken-pipe.ts";
import { openContext } from "./context.ts";
import { exitCodeOf, reportError } from "./output/error-output.ts";
import type { CliIo } from "./io.ts";
import { nameOption } from "./arguments/name-option.ts";
import { splitAtDashes } from "./arguments/command-start.ts";
import { parseArguments } from "./arguments/parse-arguments.ts";
import { COMMAND_TREE } from "./registry.ts";
import { missingCommand, resolveCommand } from "./resolve-command.ts";
import { writeAll } from "./output/write-all.ts";

interface Asked {
  json: boolean;
  verbose: boolean;
}

/** One call of the program, from its words to its exit code. Never throws. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  // As far as is known before the words are parsed: whoever asked for JSON gets JSON, also for words that cannot be.
  const { own } = splitAtDashes(args);
  const asked = { json: own.includes("--json"), verbose: own.includes("-v") || own.includes("--verbose") };
  try {
    return await dispatch(args, io, asked);
  } catch (error) {
    // The program that reads our output has gone, as `head` does. Nothing is wrong, and there is nobody to tell.
    if (errnoOf(error) === "EPIPE") return BROKEN_PIPE_EXIT;
    await reportError(error, { io, ...asked }).catch(() => undefined);
    return exitCodeOf(error);
  }
}

async function dispatch(args: readonly string[], io: CliIo, asked: Asked): Promise<number> {
  const resolution = resolveCommand(COMMAND_TREE, args);
  if (resolution.kind === "group") {
    const asked = resolution.flags.some((flag) => flag === "--help" || flag === "-h");
    // A person who stops half way wants to see what there is; a program that wants JSON has made a mistake.
    if (!asked && resolution.flags.includes("--json")) throw missingCommand(COMMAND_TREE, resolution.words);
    return await showHelp(resolution.words, resolution.flags.includes("--json"), io);
  }
  const command = await resolution.entry.load();
  const parsed = parseArguments(command, resolution.rest);
  Object.assign(asked, { json: parsed.json, verbose: parsed.verbose });
  if (parsed.help) return await showHelp(command.words, parsed.json, io);
  if (parsed.verbose) io.env["CLOCHE_LOG"] ??= "debug";
  const open = openContext(io, COMMAND_TREE, parsed);
  try {
    return await Promise.race([command.run(open.context), open.interrupted]);
  } catch (error) {
    throw nameOption(error, command);
  } finally {
    await open.close();
  }
}

async function showHelp(words: readonly string[], json: boolean, io: CliIo): Promise<number> {
  const { helpDocument, formatHelp, helpWidth } = await import("./help.ts");
  const document = await helpDocument(COMMAND_TREE, words);
  const { createColours, wantsColour } = await import("./output/colour.ts");
  await writeAll(
    io.stdout,
    json
      ? `${JSON.stringify(document, null, 2)}\n`
      : formatHelp(document, createColours(wantsColour(io.stdout, io.env)), helpWidth(io.stdout)),
  );
  return 0;
}
