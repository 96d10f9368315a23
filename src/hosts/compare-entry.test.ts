import { describe, expect, it } from "vitest";
import { HOSTS } from "../model/host.ts";
import { compareEntry } from "./compare-entry.ts";
import type { Table } from "./host.ts";
import { HOST_TABLE } from "./hosts.ts";
import { canonicalEntry, type Launcher } from "./server-entry.ts";

const program = import.meta.filename;
const launcher: Launcher = { node: process.execPath, program, env: {} };
const refuse = (options: readonly string[]) => (options.includes("--bad") ? "Unknown option --bad" : undefined);
const claude = HOST_TABLE["claude-code"];
const compare = (table: Table, options?: readonly string[], at = launcher) =>
  compareEntry(claude, table, { launcher: at, options, refuse });
const good = claude.write(canonicalEntry(launcher));

describe("compareEntry()", () => {
  it.each(HOSTS)("finds nothing to say about what is written for %s, and reads it back whole", (name) => {
    const host = HOST_TABLE[name];
    const at = { ...launcher, env: { CLOCHE_HOME: "/h", OTHER: "x" } };
    const entry = canonicalEntry(at, ["--mode", "inspect"]);
    expect(host.read(host.write(entry))).toEqual(entry);
    expect(entry.env).toEqual({ CLOCHE_HOME: "/h" });
    const { wanted, why } = compareEntry(host, host.write(entry), { launcher: at, options: undefined, refuse });
    expect(why).toBeUndefined();
    expect(wanted).toEqual(host.write(entry));
  });

  it.each([
    [{ type: "http", url: "http://x" }, "It is not a command to start"],
    [{ ...good, args: ["other"] }, "It does not start `cloche mcp serve`"],
    [{ ...good, command: "/gone/node" }, 'It starts "/gone/node", which is not there'],
    [{ ...good, args: ["/gone/main.js", "mcp", "serve"] }, 'It starts "/gone/main.js", which is not there'],
    [{ ...good, command: "cloche", args: ["mcp", "serve"] }, `It starts another program than "${program}"`],
    [{ ...good, args: [program, "mcp", "serve", "--bad"] }, "Unknown option --bad"],
    [{ ...good, env: { CLOCHE_HOME: "/h" } }, "It has another CLOCHE_HOME than this shell"],
  ])("says why %j is not right, and what would be", (table, why) => {
    expect(compare(table)).toEqual({ why, wanted: good });
  });

  it("keeps another node that is there, the options it had, and what the user added", () => {
    const table = { ...good, command: "/bin/sh", args: [program, "mcp", "serve", "--mode", "inspect"], timeout: 5 };
    expect(compare({ ...table, env: { TOKEN: "t" } })).toEqual({
      why: undefined,
      wanted: { ...table, env: { TOKEN: "t" } },
    });
    const home = { ...launcher, env: { CLOCHE_HOME: "/h" } };
    expect(compare({ ...table, env: { TOKEN: "t" } }, ["--profile", "vm-run"], home)).toEqual({
      why: "It has other options than those asked for",
      wanted: {
        ...table,
        args: [program, "mcp", "serve", "--profile", "vm-run"],
        env: { TOKEN: "t", CLOCHE_HOME: "/h" },
      },
    });
  });

  it.each(["codex", "opencode"] as const)("switches it on again in %s", (name) => {
    const host = HOST_TABLE[name];
    const on = host.write(canonicalEntry(launcher));
    const { wanted, why } = compareEntry(host, { ...on, enabled: false }, { launcher, options: undefined, refuse });
    expect(why).toBe(`It is switched off in ${host.title}`);
    expect(host.isOff(wanted)).toBe(false);
  });
});
