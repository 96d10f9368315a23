import type { Provider } from "../model/provider.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

/** In the order in which they are told. */
export const BUILT_IN_PROVIDERS: ReadonlyMap<string, Provider> = new Map(
  [claude, codex, opencode, gemini, command].map((provider) => [provider.name, provider]),
);
