import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Installation, PROJECT } from "./installation.ts";

/** An environment in which the built CLI is a program called `cloche`, as a shell finds it. */
export function installProgram(at: Installation): NodeJS.ProcessEnv {
  const bin = at.path("bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(PROJECT, "dist/cli/main.js")}" "$@"\n`;
  writeFileSync(join(bin, "cloche"), script, { mode: 0o755 });
  return { ...at.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
}
