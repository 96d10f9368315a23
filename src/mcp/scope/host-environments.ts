import { realpathSync } from "node:fs";
import { resolveEnvironment } from "../../sdk/on-this-host.ts";
import { refused } from "./refused.ts";

const ALWAYS = ["host", "debian:*"];

/** Environments that a call may name. Others run steps on the host, or show what is in any image or file of it. */
export class HostEnvironments {
  readonly #allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    this.#allowed = [...new Set([...ALWAYS, ...allowed.map((name) => byRealPath(name))])];
  }

  get allowed(): readonly string[] {
    return this.#allowed;
  }

  /** Those that the operator has listed. */
  get listed(): readonly string[] {
    return this.#allowed.slice(ALWAYS.length);
  }

  check(name: string): string {
    const real = byRealPath(name);
    // SECURITY: a Dockerfile's steps run behind no wall of ours, and an image may hold anything (G-23)
    if (this.#allowed.some((one) => matches(real, one))) return real;
    throw refused(
      `Cannot use environment "${name}"`,
      `--allow-environment ${name}`,
      `use one of ${this.#allowed.join(", ")}, or `,
    );
  }
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** One that names a folder or file of the host, by where that really is. */
function byRealPath(name: string): string {
  const star = name.endsWith("*") ? "*" : "";
  const [, prefix, path] = /^([a-z]+:)(.*)$/s.exec(resolveEnvironment(star === "" ? name : name.slice(0, -1))) ?? [];
  if (prefix === undefined || !path?.startsWith("/")) return name;
  // A slash at the end of a pattern says that what is below is meant.
  const end = name.endsWith("/*") ? "/*" : star;
  try {
    return `${prefix}${realpathSync(path)}${end}`;
  } catch {
    return `${prefix}${path}${end}`; // not there: nothing can be made of it
  }
}
