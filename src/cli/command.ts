import type { ReportProgress } from "../model/progress.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { Colours } from "./output/colour.ts";
import type { CliIo } from "./io.ts";
import type { OptionSpecs, PositionalSpec, Values } from "./arguments/option-spec.ts";
import type { Layout } from "./output/table.ts";

/** What can be typed and in which order, without what happens then. */
export interface CommandShape<Specs extends OptionSpecs = OptionSpecs> {
  /** As typed after `cloche`. */
  readonly words: readonly string[];
  readonly positionals: readonly PositionalSpec[];
  readonly options: Specs;
  /** Whether words after `--`, or after all that is ours, are a command to run; they are passed on as they are. */
  readonly takesCommand?: boolean;
  /** Where the first word may be ours or the command's already: which it is. */
  readonly isOwnWord?: (word: string) => boolean;
}

export interface CommandDefinition<Specs extends OptionSpecs> extends CommandShape<Specs> {
  readonly summary: string;
  /** Further lines for the help. */
  readonly description?: string;
  readonly examples: readonly string[];
  /** Prints the result and resolves to the exit code. */
  run(context: Context<Specs>): Promise<number>;
}

/** A command whose options are not known in detail. */
export type Command = CommandDefinition<OptionSpecs>;

/** Keeps the options' types for `run` and gives a command of the common type. */
export function defineCommand<const Specs extends OptionSpecs>(definition: CommandDefinition<Specs>): Command {
  return definition;
}

/** A command that is known by its words and one line; the rest is loaded when it is called. */
export interface CommandEntry {
  readonly words: readonly string[];
  readonly summary: string;
  /** Asked by scripts; in no help. */
  readonly hidden?: boolean;
  load(): Promise<Command>;
}

export interface CommandGroup {
  readonly words: readonly string[];
  readonly summary: string;
  readonly alias?: string;
}

export interface CommandTree {
  readonly commands: readonly CommandEntry[];
  readonly groups: readonly CommandGroup[];
}

/** What a command's `run` gets. */
export interface Context<Specs extends OptionSpecs = OptionSpecs> {
  readonly io: CliIo;
  /** All commands there are, for those that tell about the others. */
  readonly tree: CommandTree;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly values: Values<Specs>;
  /** The words of the command to run. */
  readonly command: readonly string[];
  /** All positionals, in order. */
  readonly words: readonly string[];
  /** For stdout. */
  readonly colours: Colours;
  /** For tables on stdout. */
  readonly layout: Layout;
  /** Whether stdout is a terminal: what a sandbox named is then shown escaped. */
  readonly onTerminal: boolean;
  /** A positional that the definition requires. */
  argument(name: string): string;
  optionalArgument(name: string): string | undefined;
  /** The one client of this call; closed when the command has ended. */
  connect(): Promise<Cloche>;
  /** The result on stdout: the document with `--json`, else the text. */
  print(document: unknown, human: () => string): Promise<void>;
  /** A line on stderr. */
  note(text: string): void;
  /** Shows long work on stderr. */
  readonly onProgress: ReportProgress;
  /** The long work is over: removes what `onProgress` shows, before bytes go out that `print` does not write, and leaves signals to who comes next. */
  endProgress(): void;
}
