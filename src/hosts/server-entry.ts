import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { failure } from "../model/error-codes.ts";

/** The name of our entry in every host's configuration. */
export const SERVER_NAME = "cloche";

/** What a host starts to get our tools; each host writes it in its own form. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Variables that say which installation is meant. A host may start its servers with hardly any environment, so they go into the entry. */
export const INSTALLATION_VARIABLES = ["CLOCHE_HOME", "CLOCHE_CACHE"] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** This installation as a host has to start it: absolute paths, because a host may not have the PATH of your shell. */
export interface Launcher {
  readonly node: string;
  readonly program: string;
  readonly env: Environment;
}

export function thisLauncher(env: Environment): Launcher {
  // Beside this file once built; from the sources it is the build's too.
  const fromSource = import.meta.url.endsWith(".ts");
  const program = fileURLToPath(new URL(fromSource ? "../../dist/cli/main.js" : "../cli/main.js", import.meta.url));
  if (!existsSync(program))
    throw failure("NOT_SUPPORTED", `"${program}" is missing`, {
      hint: "Install the package again; in a checkout, run `make build`",
    });
  return { node: process.execPath, program, env };
}

/** The one command that every host is to start; `options` are those of `cloche mcp serve`. */
export function canonicalEntry({ node, program, env }: Launcher, options: readonly string[] = []): ServerEntry {
  const named = INSTALLATION_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return { command: node, args: [program, "mcp", "serve", ...options], env: Object.fromEntries(named) };
}

/** The options that an entry passes to `cloche mcp serve`; undefined when it is no call of that at all. */
export function serveOptions({ args }: ServerEntry): readonly string[] | undefined {
  const at = args.findIndex((word, index) => word === "mcp" && args[index + 1] === "serve");
  return at === -1 ? undefined : args.slice(at + 2);
}
