import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireOwnCommands } from "./token-commands.ts";

const RUNS = { routes: [{ host: "a.example", auth: { scheme: "Bearer", token_command: ["./get-token", "-q"] } }] };
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "cloche-policy-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Makes a file, and tells whether its policy may run commands. */
function isAllowed(path: string, { policy = RUNS, seedPath }: { policy?: object; seedPath?: string } = {}): boolean {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  try {
    requireOwnCommands(
      policy,
      { file, folder: dirname(file), seedPath },
      { env: { HOME: join(root, "home") }, cwd: root },
    );
    return true;
  } catch (error) {
    expect(error).toMatchObject({
      code: "EGRESS_POLICY_INVALID",
      hint: expect.stringContaining("--allow-token-commands") as string,
      message: expect.stringMatching(/runs "\.\/get-token -q"/) as string,
    });
    return false;
  }
}

const make = (path: string) => mkdirSync(join(root, path), { recursive: true });

describe("G-72 the token commands of a policy", () => {
  it("are the user's own where no project is around it", () => {
    expect(isAllowed("policies/egress.yaml")).toBe(true);
    make("home/.git"); // who keeps the files of a home in git
    make("home/.cloche");
    expect(isAllowed("home/.config/egress.yaml")).toBe(true);
  });

  it.each([".git", ".hg", ".jj", ".svn", ".cloche"])("are not where a folder above it has %s", (mark) => {
    make(`project/${mark}`);
    expect(isAllowed("project/egress.yaml")).toBe(false);
    expect(isAllowed("project/.cloche/egress.yaml")).toBe(false);
    expect(isAllowed("project/a/b/egress.json")).toBe(false);
    expect(isAllowed("beside/egress.yaml")).toBe(true);
  });

  it("are not in a project below the home, nor in one that is seeded", () => {
    make("home/code/app/.git");
    expect(isAllowed("home/code/app/egress.yaml")).toBe(false);
    expect(isAllowed("unpacked/deep/egress.yaml", { seedPath: "unpacked" })).toBe(false);
    expect(isAllowed("unpacked/deep/egress.yaml", { seedPath: "unpacked/other" })).toBe(true);
  });

  it("are not behind a link, whichever side of it is in a project", () => {
    make("project/.git");
    make("own");
    symlinkSync(join(root, "project/linked.yaml"), join(root, "own/linked.yaml"));
    expect(isAllowed("own/linked.yaml")).toBe(false);
    symlinkSync(join(root, "own"), join(root, "project/own"));
    expect(isAllowed("project/own/egress.yaml")).toBe(true); // a folder of the user's, whatever leads there
    symlinkSync(join(root, "own/egress.yaml"), join(root, "project/alias.yaml"));
    expect(isAllowed("project/alias.yaml")).toBe(false);
  });

  it("are told from everything else in a policy, whatever shape it has", () => {
    make("project/.git");
    const auth = (auth: unknown) => ({ policy: { routes: [{ host: "a.example", auth }] } });
    expect(isAllowed("project/a", auth({ scheme: "Bearer", token_ref: "T" }))).toBe(true);
    expect(isAllowed("project/a", { policy: { routes: "none" } })).toBe(true);
    expect(isAllowed("project/a", { policy: { routes: [null, 3, { host: "a" }] } })).toBe(true);
    const command = "./get-token -q";
    expect(isAllowed("project/a", auth([{ token_ref: "T" }, { token_command: ["./get-token", "-q"] }]))).toBe(false);
    // What is no list of words is refused later, and not run before.
    expect(() =>
      requireOwnCommands(
        auth({ token_command: command }).policy as never,
        { file: join(root, "project/a"), folder: join(root, "project") },
        { env: {}, cwd: root },
      ),
    ).toThrow("runs");
  });
});
