import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { errnoOf, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { Provider } from "../model/provider.ts";
import { MANIFEST_NAME } from "../model/vocabulary.ts";
import { BUILT_IN_PROVIDERS } from "../providers/built-in-providers.ts";

export const pluginFile = (home: string, name: string): string => join(home, "providers", `${name}.mjs`);

const TEXTS = ["name", "summary", "skills_folder"] as const;
const FUNCTIONS = ["check", "program", "credentials", "routes", "env", "files", "argv"] as const;

/** One that comes with cloche, or the default export of a file in the home. A plugin is code of the user's own, and runs in the daemon. */
export async function findProvider(home: string, name: string): Promise<Provider> {
  const builtIn = BUILT_IN_PROVIDERS.get(name);
  if (builtIn) return builtIn;
  const file = pluginFile(home, name);
  const stamp = MANIFEST_NAME.test(name) ? stampOf(file) : undefined;
  if (stamp === undefined) {
    throw failure("PROVIDER_NOT_FOUND", `There is no provider "${name}"`, {
      hint: `Use one of ${[...BUILT_IN_PROVIDERS.keys()].join(", ")}, or write "${file}"`,
    });
  }
  return checked(name, file, await load(file, stamp));
}

/** A plugin has nothing to wait for. */
const LOAD_MS = 5000;

/** A file that has changed is another module. */
async function load(file: string, stamp: string): Promise<unknown> {
  const late = new AbortController();
  try {
    const loading = import(`${pathToFileURL(file).href}?${stamp}`) as Promise<{ readonly default?: unknown }>;
    const module = await Promise.race([loading, tooLate(late.signal)]);
    return module.default;
  } catch (error) {
    throw failure("MANIFEST_INVALID", `Cannot load "${file}": ${messageOf(error)}`, { cause: error });
  } finally {
    late.abort();
  }
}

async function tooLate(signal: AbortSignal): Promise<never> {
  await setTimeout(LOAD_MS, undefined, { signal });
  throw new Error(`it is not loaded after ${LOAD_MS / 1000} seconds`);
}

function checked(name: string, file: string, value: unknown): Provider {
  const problem = look(() => problemOf(name, value));
  if (problem === undefined) return value as Provider;
  throw failure("MANIFEST_INVALID", `Cannot use "${file}": ${problem}`, {
    hint: "See docs/providers.md for what it exports",
  });
}

/** Also what a member throws that is no plain value. */
function look(ask: () => string | undefined): string | undefined {
  try {
    return ask();
  } catch (error) {
    return messageOf(error);
  }
}

function problemOf(name: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "its default export is no provider";
  const given = value as Readonly<Record<string, unknown>>;
  const text = TEXTS.find((key) => typeof given[key] !== "string" || given[key] === "");
  if (text !== undefined) return `"${text}" must be a text`;
  const missing = FUNCTIONS.find((key) => typeof given[key] !== "function");
  if (missing !== undefined) return `"${missing}" must be a function`;
  if (given["name"] !== name) return `its name is "${String(given["name"])}", and the file's is "${name}"`;
  const shape = given["error_shape"];
  if (shape !== null && shape !== "anthropic" && shape !== "openai" && shape !== "google")
    return '"error_shape" must be one of anthropic, openai, google, or null';
  const takesLines = given["takes_lines"];
  if (takesLines !== undefined && typeof takesLines !== "boolean") return '"takes_lines" must be true or false';
  if (/(?:^|\/)\.\.(?:\/|$)|^\//.test(String(given["skills_folder"]))) return '"skills_folder" must be below the home';
  return undefined;
}

/** Undefined when there is no such file. */
function stampOf(file: string): string | undefined {
  try {
    const { mtimeNs, size } = statSync(file, { bigint: true });
    return `${mtimeNs.toString()}-${size.toString()}`;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw failure("MANIFEST_INVALID", `Cannot read "${file}": ${messageOf(error)}`, { cause: error });
  }
}
