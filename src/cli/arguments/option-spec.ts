/** What a completion offers for a value. */
export type Completes =
  | "workspace"
  | "run"
  | "service"
  | "snapshot"
  | "shell"
  | "environment"
  | "backend"
  | "host-path"
  | "command-words"
  | "agent"
  | "bottle"
  | "definition"
  | "proposal"
  | "rule";

export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** The name of the value in the help, in capitals. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** Also taken, and offered nowhere: old names, and what is refused with a reason of its own. */
  readonly alsoTakes?: readonly string[];
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** The value is never repeated in a message. */
  readonly sensitive?: boolean;
  readonly completes?: Completes;
  /** Turns the text into the value; throws `BadValue` for what does not fit. */
  readonly parse?: (text: string) => unknown;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface PositionalSpec {
  /** In capitals, as the help shows it. */
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** Takes every further word; only for the last one. */
  readonly multiple?: boolean;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

type Single<Spec extends OptionSpec> = Spec extends { parse: (text: string) => infer Value }
  ? Value
  : Spec extends { choices: readonly (infer Choice)[]; alsoTakes: readonly (infer Other)[] }
    ? Choice | Other
    : Spec extends { choices: readonly (infer Choice)[] }
      ? Choice
      : string;

type ValueOf<Spec extends OptionSpec> = Spec extends { type: "boolean" }
  ? boolean
  : Spec extends { multiple: true }
    ? Single<Spec>[]
    : Spec extends { required: true }
      ? Single<Spec>
      : Single<Spec> | undefined;

/** The values of a command's options: `false` and `[]` for what was not given, else undefined. */
export type Values<Specs extends OptionSpecs> = { readonly [Name in keyof Specs]: ValueOf<Specs[Name]> };

/** What every command takes. */
export const GLOBAL_OPTIONS = {
  json: { type: "boolean", description: "Print one JSON document on stdout, errors included" },
  verbose: { type: "boolean", short: "v", description: "Say more on stderr, and have a daemon started now log more" },
  help: { type: "boolean", short: "h", description: "Show this help" },
} as const satisfies OptionSpecs;
