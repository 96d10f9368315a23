import type { Route } from "./egress.ts";
import type { ProviderShape } from "./egress-order.ts";

/** What a bottle says about its agent, beside the provider's name. */
export interface ProviderChoice {
  /** A variable of whoever launches, with the credential. */
  readonly auth_token: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A package of the npm registry that has the whole program, so that no script has to run to install it. */
export interface ProgramPackage {
  readonly name: string;
  readonly version: string;
  /** Of the package as the registry serves it, as npm writes it: `sha512-` and the digest in base64. What differs is not installed. */
  readonly integrity: string;
  /** The program, in the package. */
  readonly file: string;
  /** By what name the package is installed beside a wrapper of it, where that is another one. */
  readonly installed_as?: string | undefined;
}

/** By processor. */
export interface ProgramPackages {
  readonly x64?: ProgramPackage | undefined;
  readonly arm64?: ProgramPackage | undefined;
}

/** Where the program of an agent comes from: in the environment `host` from this host, elsewhere from its package. */
export interface AgentProgram {
  /** As the shell finds it; also the first word of the command in the sandbox. */
  readonly command: string;
  /** None where the program has to be in the environment. */
  readonly packages: ProgramPackages;
  /** Where else than on the PATH this host may have it: files, absolute or below `~/`. */
  readonly places?: readonly string[] | undefined;
  /** What gives this host the program, as a command to type. */
  readonly install?: string | undefined;
  /** What runs the program's file, where it is no binary: a command of the host, and elsewhere a package too. */
  readonly interpreter: { readonly command: string; readonly packages: ProgramPackages } | null;
}

/** A credential that never enters the sandbox: the agent has a stand-in for it, and the gate puts the real one in. */
export interface ProviderCredential {
  /** The variable of whoever launches. */
  readonly token_ref: string;
  /** The variable of the sandbox that has the stand-in. */
  readonly variable: string;
}

/** A file that the program finds at its start. */
export interface ProvidedFile {
  /** Absolute, in the sandbox. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** One start of an agent, in the words of its sandbox. */
export interface AgentTask {
  readonly choice: ProviderChoice;
  readonly home: string;
  readonly cwd: string;
  /** The body of the agent's file; empty when there is none. */
  readonly instructions: string;
  /** The file that holds it; null when it is empty. */
  readonly prompt_file: string | null;
  /** What it is to do; null when it waits to be told. */
  readonly prompt: string | null;
  /** Without a terminal: does its task, prints, ends. */
  readonly headless: boolean;
  /** The id is fixed before the first start. A program that takes none takes up its last conversation, of which a sandbox has one. */
  readonly session: { readonly id: string; readonly resume: boolean };
  /** By variable of the sandbox. */
  readonly stand_ins: Readonly<Record<string, string>>;
  /** The door of `supervise`; null where there is none. */
  readonly supervise_url: string | null;
}

/**
 * How one agent is used: facts, and functions that only compute. `~/.cloche/providers/NAME.mjs` may export one as its default. The functions get plain data and give
 * plain data; they are called when a run is planned, also for a dry run, so they must not read, write or ask for anything.
 */
export interface Provider {
  readonly name: string;
  /** For people, in a few words. */
  readonly summary: string;
  /** Where it looks for skills, below its home. */
  readonly skills_folder: string;
  /** How its model's API tells of an error; what the gate refuses on its routes is told so. */
  readonly error_shape: ProviderShape | null;
  /** Of its variables, those that a preflight lists; none unless said. */
  readonly shown_env?: readonly string[];
  /** Whether a line that is typed at its terminal while it waits, with Enter, is a message to it. Then it is told there what the operator decided while nobody asked. */
  readonly takes_lines?: boolean;
  /** What is wrong with what a bottle says, as a clause; undefined when nothing is. */
  check(choice: ProviderChoice): string | undefined;
  /** What is wrong with the value of a credential, as a clause that does not repeat it; asked at launch. */
  checkToken?(choice: ProviderChoice, value: string): string | undefined;
  program(choice: ProviderChoice): AgentProgram;
  credentials(choice: ProviderChoice): readonly ProviderCredential[];
  /** What it has to reach, before the routes of the bottle. */
  routes(choice: ProviderChoice): readonly Route[];
  /** What quiets it and tells it where things are, without stand-ins. */
  env(task: AgentTask): Readonly<Record<string, string>>;
  /** So that it asks nothing at its first start. */
  files(task: AgentTask): readonly ProvidedFile[];
  /** The whole command. */
  argv(task: AgentTask): readonly string[];
}
