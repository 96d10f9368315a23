import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../helpers/installation.ts";
import { McpClient, withMcp } from "../helpers/mcp-client.ts";

let at: Installation;
let project: string;
beforeAll(() => {
  at = new Installation("mcpp");
  project = checkout("project", { "a.txt": "a\n", "sub/b.txt": "b\n", ".gitignore": "ignored/\n" });
  writeFileSync(join(project, "untracked.txt"), "u\n");
});
afterAll(() => at[Symbol.asyncDispose]());

const git = (cwd: string, ...args: string[]) =>
  execFileSync(
    "git",
    ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", ...args],
    {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );

function checkout(name: string, files: Readonly<Record<string, string>>): string {
  const folder = at.path(name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
  return folder;
}

interface Seeded {
  readonly names: string[];
  readonly seed: Record<string, unknown>;
  readonly description: string;
}

/** What a workspace begins with; without what git keeps for itself. */
async function seeded(flags: readonly string[], cwd = at.root): Promise<Seeded> {
  return await withMcp(
    at,
    flags,
    async (client) => {
      const description = (await client.tools()).find(({ name }) => name === "workspace_create")!.description;
      const made = await client.call("workspace_create");
      const workspace_id = made["workspace_id"] as string;
      const { stdout } = await client.call("workspace_exec", {
        workspace_id,
        command: "find . -path ./.git -prune -o -type f -print -o -type l -print | sort",
      });
      await client.call("workspace_delete", { workspace_id });
      return {
        names: (stdout as string).trim().split("\n").filter(Boolean),
        seed: made["workspace_seed"] as Record<string, unknown>,
        description,
      };
    },
    { cwd },
  );
}

const clones = () => readdirSync(join(at.home, "tmp")).filter((name) => name.startsWith("clone-"));
const FILES = ["./.gitignore", "./a.txt", "./sub/b.txt", "./untracked.txt"];

describe("where a workspace's files come from", () => {
  it("the checkout that the server was started in, also from a folder below", async () => {
    for (const cwd of [project, join(project, "sub")]) {
      const { names, seed, description } = await seeded([], cwd);
      expect(names).toEqual(FILES);
      expect(seed).toMatchObject({ mode: "directory", seed_path: project, origin_kind: "project_path" });
      expect(seed).toMatchObject({ origin_ref: project, included: null });
      expect(description).toContain(`the files of ${project} that git does not ignore`);
    }
  });

  it("nothing outside of a checkout, and nothing with --no-project-source", async () => {
    expect(await seeded([])).toMatchObject({
      names: [],
      seed: { mode: "empty" },
      description: expect.stringContaining("starts empty") as string,
    });
    expect(await seeded(["--no-project-source"], project)).toMatchObject({ names: [], seed: { mode: "empty" } });
  });

  it("a folder that is no checkout, with --project-path", async () => {
    mkdirSync(at.path("plain"));
    writeFileSync(at.path("plain/x"), "x");
    const { names, description } = await seeded(["--project-path", "plain"]);
    expect(names).toEqual(["./x"]);
    expect(description).toContain(`the files of ${at.path("plain")}.`);
  });

  it("another workspace when the call names one, and its environment", async () => {
    const from = await at.sdk.createWorkspace({ environment: "host", name: "first" });
    await at.sdk.writeWorkspaceFile(from.workspace_id, "made.txt", { text: "made" });
    await withMcp(
      at,
      ["--environment", "debian:12", "--backend", "no-such", "--all-workspaces"],
      async (client) => {
        const { structuredContent: made, content } = await client.tool("workspace_create", {
          from_workspace: from.workspace_id,
        });
        expect(made).toMatchObject({ environment: "host", backend: from.backend, name: "first" });
        expect(content[0]!.text).toBe(`Created ${made["workspace_id"] as string} from ${from.workspace_id}`);
        const { entries } = await at.sdk.listWorkspaceFiles(made["workspace_id"] as string);
        expect(entries.map(({ path }) => path)).toEqual(["/workspace/made.txt"]);
      },
      { cwd: project },
    );
  });

  it("another seed when the call names one", async () => {
    await withMcp(
      at,
      ["--allow-read", at.path("plain")],
      async (client) => {
        for (const path of [at.path("plain"), join(project, "sub")]) {
          const made = await client.call("workspace_create", { seed_path: path });
          expect(made["workspace_seed"]).toMatchObject({ origin_kind: "seed_path", seed_path: path });
        }
      },
      { cwd: project },
    );
  });
});

describe("a messy checkout works", () => {
  it("with a detached HEAD, broken links, nested repositories, conflicts and a huge ignored folder", async () => {
    const messy = checkout("messy", { "a.txt": "a\n", ".gitignore": "node_modules/\n" });
    git(messy, "checkout", "-q", "--detach");
    symlinkSync("nowhere", join(messy, "broken"));
    symlinkSync("/etc/passwd", join(messy, "outside"));
    const nested = join(messy, "nested");
    mkdirSync(nested);
    writeFileSync(join(nested, "n.txt"), "n");
    git(nested, "init", "-q");
    mkdirSync(join(messy, "node_modules"));
    execFileSync("sh", ["-c", "cd node_modules && seq 20000 | xargs touch"], { cwd: messy });
    const { names } = await seeded([], messy);
    expect(names).toContain("./a.txt");
    expect(names).toContain("./broken");
    expect(names.filter((name) => name.includes("node_modules"))).toEqual([]);
  });

  it("or is refused in one sentence that names the file", async () => {
    const closed = checkout("closed", { "a.txt": "a\n" });
    writeFileSync(join(closed, ".git/HEAD"), "nonsense");
    await withMcp(
      at,
      [],
      async (client) => {
        const error = await client.fails("workspace_create");
        expect(error.message).toMatch(/^[A-Z][^\n]*$/);
        expect(error.message).toContain(closed);
      },
      { cwd: closed },
    );
  });
});

describe("a repository by its URL", () => {
  it("is cloned clean, at a branch, a tag or a commit, once for a server, and the clone goes with it", async () => {
    const upstream = checkout("upstream", { "one.txt": "1\n" });
    git(upstream, "tag", "v1");
    const first = git(upstream, "rev-parse", "HEAD").toString().trim();
    git(upstream, "checkout", "-q", "-b", "side");
    writeFileSync(join(upstream, "side.txt"), "s\n");
    git(upstream, "add", "-A");
    git(upstream, "commit", "-q", "-m", "side");
    git(upstream, "checkout", "-q", "main");
    writeFileSync(join(upstream, "dirty.txt"), "d\n");
    mkdirSync(join(at.home, "tmp"), { recursive: true, mode: 0o700 });
    const before = clones();
    const url = `file://${upstream}`;
    expect(await seeded(["--repo-url", url])).toMatchObject({
      names: ["./one.txt"],
      seed: { mode: "directory", origin_kind: "repo_url", origin_ref: url },
      description: expect.stringContaining(`a clean clone of ${url}`) as string,
    });
    expect((await seeded(["--repo-url", url, "--repo-ref", "side"])).names).toEqual(["./one.txt", "./side.txt"]);
    expect((await seeded(["--repo-url", url, "--repo-ref", "v1"])).names).toEqual(["./one.txt"]);
    const pinned = await seeded(["--repo-url", url, "--repo-ref", first]);
    expect([pinned.names, pinned.seed["origin_ref"]]).toEqual([["./one.txt"], `${url}#${first}`]);
    expect(clones()).toEqual(before);
  });

  it("runs no hook and fetches no submodule, and its credentials are shown nowhere", async () => {
    const inner = checkout("inner", { "i.txt": "i\n" });
    const tricky = checkout("tricky", { "t.txt": "t\n" });
    git(tricky, "submodule", "add", "-q", inner, "sub");
    git(tricky, "commit", "-q", "-m", "submodule");
    const template = at.path("template");
    mkdirSync(join(template, "hooks"), { recursive: true });
    const hook = join(template, "hooks/post-checkout");
    writeFileSync(hook, `#!/bin/sh\ntouch ${at.path("hook-ran")}\n`);
    chmodSync(hook, 0o755);
    // As a user's own configuration might have it.
    writeFileSync(
      at.path("gitconfig"),
      `[init]\n\ttemplateDir = ${template}\n[core]\n\thooksPath = ${join(template, "hooks")}\n[submodule]\n\trecurse = true\n[protocol "file"]\n\tallow = always\n`,
    );
    const env = { GIT_CONFIG_GLOBAL: at.path("gitconfig") };
    await withMcp(
      at,
      ["--repo-url", `file://${tricky}`],
      async (client) => {
        const workspace_id = await client.create();
        const { stdout } = await client.call("workspace_exec", { workspace_id, command: "ls; ls -A sub" });
        expect(stdout).toBe("sub\nt.txt\n");
      },
      { env },
    );
    expect(existsSync(at.path("hook-ran"))).toBe(false);

    await withMcp(at, ["--repo-url", "https://user:s3cret@127.0.0.1:1/x.git"], async (client) => {
      expect(JSON.stringify(await client.tools())).not.toContain("s3cret");
      const error = await client.fails("workspace_create");
      expect(error).toMatchObject({ code: "SEED_INVALID" });
      expect(JSON.stringify(error)).not.toContain("s3cret");
    });
  });

  it("that is none, or a command, or a ref that is not there, is refused in one sentence", async () => {
    for (const flags of [["--repo-url=--upload-pack=touch x"], ["--repo-url", "x", "--repo-ref=-b"]]) {
      expect(await at.cli(["mcp", "serve", ...flags], { input: "" })).toMatchObject({ code: 2, stdout: "" });
    }
    for (const [url, ref] of [
      [`ext::sh -c touch% ${at.path("ext-ran")}`, "main"],
      [`file://${at.path("no-such")}`, "main"],
      [`file://${project}`, "no-such-ref"],
    ] as const) {
      await withMcp(at, ["--repo-url", url, "--repo-ref", ref], async (client) => {
        const error = await client.fails("workspace_create");
        expect(error.code).toBe("SEED_INVALID");
        expect(error.message).toMatch(/^Cannot (clone|check out) [^\n]+$/);
      });
    }
    expect(existsSync(at.path("ext-ran"))).toBe(false);
  });

  it("whose server was killed leaves a clone that the next one removes", async () => {
    const flags = ["--repo-url", `file://${project}`];
    const before = clones();
    const killed = new McpClient(at, flags);
    await killed.open();
    await killed.create();
    expect(clones().length).toBe(before.length + 1);
    killed.process.kill("SIGKILL");
    await killed.ended;
    await seeded(flags);
    expect(clones()).toEqual(before);
  });
});
