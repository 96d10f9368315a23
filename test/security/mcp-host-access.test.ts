import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { ServerOptions } from "../../src/mcp/server-options.ts";
import { TOOLS } from "../../src/mcp/tool-registry.ts";
import { Installation } from "../helpers/installation.ts";
import { McpClient } from "../helpers/mcp-client.ts";
import { type Transport, TRANSPORTS, McpSession } from "../helpers/mcp-session.ts";

const KEY = "a-private-key";
const REFUSED = "HOST_ACCESS_REFUSED";

let at: Installation;
let project: string;
let home: string;
/** Somebody else's, made without the server. */
let foreign: string;
beforeAll(async () => {
  at = new Installation("mcpa");
  home = at.path("user");
  write(join(home, ".ssh/id_ed25519"), KEY);
  execFileSync("tar", ["-C", join(home, ".ssh"), "-cf", join(home, "keys.tar"), "id_ed25519"]);
  project = at.path("project");
  write(join(project, "a.txt"), "a\n");
  write(join(project, "src/b.txt"), "b\n");
  write(join(project, "image/Dockerfile"), `FROM scratch\nRUN touch ${at.path("ran")}\n`);
  write(join(project, ".gitignore"), ".env\nsecrets/\nnode_modules/\n*.tgz\n");
  git(project, "init", "-q");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
  write(join(project, ".env"), KEY);
  write(join(project, "secrets/token"), KEY);
  write(join(project, "node_modules/x/index.js"), KEY);
  execFileSync("tar", ["-C", join(home, ".ssh"), "-czf", join(project, "keys.tgz"), "id_ed25519"]);
  symlinkSync(join(home, ".ssh"), join(project, "keys"));
  symlinkSync(join(home, "keys.tar"), join(project, "keys.tar"));
  symlinkSync("/", join(project, "root"));
  symlinkSync("secrets", join(project, "hidden"));
  execFileSync("mkfifo", [join(project, "pipe.tar")]);
  foreign = (await at.sdk.createWorkspace({ environment: "host", name: "foreign", idempotency_key: "theirs" }))
    .workspace_id;
  await at.sdk.writeWorkspaceFile(foreign, "theirs.txt", { text: KEY });
});
afterAll(() => at[Symbol.asyncDispose]());

function write(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: folder, stdio: "pipe" });

const inProject = (more: ServerOptions = {}): ServerOptions => ({
  project_path: project,
  profile: "workspace-full",
  ...more,
});

async function withSession<Result>(
  transport: Transport,
  options: ServerOptions,
  work: (session: McpSession) => Promise<Result>,
): Promise<Result> {
  await using session = await McpSession.open(transport, at, options);
  return await work(session);
}

/** All that is in the workspaces that a session has made, as one text. */
const contentOf = async (session: McpSession, id: string) =>
  String((await session.call("workspace_exec", { workspace_id: id, command: "grep -rah . . || true" }))["stdout"]);

describe.each(TRANSPORTS)("G-23: tools over %s reach no more of the host than the project", (transport) => {
  it("read what its seed brings, and nothing else by any name", async () => {
    await withSession(transport, inProject(), async (session) => {
      const id = await session.create();
      expect(await contentOf(session, id)).not.toContain(KEY);
      for (const [source, files] of [
        ["src", 1],
        [join(project, "src"), 1],
        [".", 4 + 4], // files and links
      ] as const) {
        const pushed = await session.call("workspace_sync_push", { workspace_id: id, source_path: source, dest: "in" });
        expect(pushed["files"], source).toBe(files);
      }
      for (const path of [
        join(home, ".ssh"),
        join(home, "keys.tar"),
        at.root,
        at.home,
        "/",
        "/root",
        "/etc",
        "/proc/self",
        "/proc/self/root",
        `/proc/${process.pid}/cwd`,
        "..",
        "../user/.ssh",
        join(project, "../user/.ssh"),
        "src/../../user/.ssh",
        "keys",
        "keys.tar",
        "root",
        `root${home}/.ssh`,
        "hidden",
        "secrets",
        "secrets/",
        "node_modules",
        "node_modules/x",
        "keys.tgz",
        ".git",
        ".git/hooks",
        ".git/objects",
      ]) {
        const attacks = [
          ["workspace_create", { seed_path: path }],
          ["vm_run", { seed_path: path, command: "grep -rah . ." }],
          ["workspace_sync_push", { workspace_id: id, source_path: path, dest: "stolen" }],
        ] as const;
        for (const [name, args] of attacks) {
          const refusal = await session.refusal(name, args);
          expect(refusal?.code, `${name} of ${path}: ${refusal?.message ?? "done"}`).toBe(REFUSED);
          expect(refusal?.hint, path).toContain("--allow-read");
        }
      }
      // Files that are no archive, and what is no file: refused without a look into them, and without waiting.
      for (const path of [".env", "pipe.tar", "a.txt"]) {
        expect((await session.refusal("workspace_create", { seed_path: path }))?.code, path).toMatch(
          /SEED_INVALID|REFUSED/,
        );
      }
      expect(await contentOf(session, id)).not.toContain(KEY);
    });
  });

  it("tell nothing of what is there outside", async () => {
    await withSession(transport, inProject(), async (session) => {
      const told = async (path: string) =>
        JSON.stringify(await session.refusal("workspace_create", { seed_path: path }));
      const there = join(home, ".ssh");
      const missing = join(home, ".sss");
      expect((await told(there)).replaceAll(there, missing)).toBe(await told(missing));
      // Nor through links that a project brings.
      const [behind, nothing] = [`${home}/.ssh/id_ed25519`, `${home}/.ssh/no-such-one`];
      for (const name of [behind, nothing])
        symlinkSync(name, join(project, `link-${transport}-${name.endsWith("one")}`));
      for (const [one, other] of [
        [`root${behind}`, `root${nothing}`],
        [`link-${transport}-false`, `link-${transport}-true`],
      ] as const) {
        const [first, second] = [await told(one), await told(other)];
        expect(first.replaceAll(one, "X"), one).toBe(second.replaceAll(other, "X"));
        expect(first).toContain(REFUSED);
      }
      for (const end of ["false", "true"]) rmSync(join(project, `link-${transport}-${end}`));
      expect(await told("no-such-folder")).toContain("SEED_NOT_FOUND");
    });
  });

  it("take no secret from a file", async () => {
    await withSession(transport, inProject(), async (session) => {
      for (const file_path of [join(home, ".ssh/id_ed25519"), "/etc/passwd", ".env", "a.txt", "keys/id_ed25519"]) {
        const refusal = await session.refusal("workspace_create", { secrets: [{ name: "K", file_path }] });
        expect([refusal?.code, refusal?.hint], file_path).toEqual([REFUSED, expect.stringContaining("--allow-read")]);
      }
    });
  });

  it("write new paths in the output folder only", async () => {
    await withSession(transport, inProject(), async (session) => {
      const id = await session.create();
      const script = { workspace_id: id, path: "run.sh", text: "#!/bin/sh\necho taken\n" };
      await session.call("workspace_file_write", script);
      const before = snapshot();
      for (const output_path of [
        join(home, ".ssh/authorized_keys"),
        join(home, "new"),
        join(project, ".git/hooks/pre-commit"),
        join(project, ".envrc"),
        join(project, "new.sh"),
        join(project, ".cloche/agents/evil.md"),
        join(project, ".cloche/exports/.gitignore"),
        join(project, ".cloche/exports/.git/hooks/pre-commit"),
        join(project, ".cloche/exports/a/.git"),
        "../../.envrc",
        "../agents/evil.md",
        "../../../user/.ssh/authorized_keys",
        ".envrc",
        "sub/.hidden/x",
        "/dev/shm/x",
        "/proc/self/cwd/x",
        `${project}/keys/authorized_keys`,
        at.path("anywhere"),
      ]) {
        const refusal = await session.refusal("workspace_export", { workspace_id: id, path: "run.sh", output_path });
        expect([refusal?.code, refusal?.hint], output_path).toEqual([
          REFUSED,
          expect.stringContaining("--allow-write"),
        ]);
      }
      for (const output_path of [".", join(project, ".cloche/exports"), "~/x", "HEAD", "a/objects", "commondir"]) {
        const refusal = await session.refusal("workspace_export", { workspace_id: id, path: "run.sh", output_path });
        expect(refusal?.code, output_path).toBe("OUTPUT_INVALID");
      }
      expect(snapshot()).toEqual(before);
      const exported = `taken-${transport}.sh`;
      const output = join(project, ".cloche/exports", exported);
      expect(
        await session.call("workspace_export", { workspace_id: id, path: "run.sh", output_path: exported }),
      ).toMatchObject({
        output_path: output,
      });
      expect(readFileSync(output, "utf8")).toBe(script.text);
      for (const output_path of [exported, output]) {
        const again = await session.refusal("workspace_export", { workspace_id: id, path: "run.sh", output_path });
        expect(again?.code).toBe("OUTPUT_EXISTS");
      }
      expect(git(project, "status", "--porcelain").toString()).not.toContain(".cloche");
      expect(await session.call("workspace_stop", { workspace_id: id })).toBeTruthy();
      for (const output_path of [join(home, "disk.tar"), ".disk.tar"]) {
        expect((await session.refusal("workspace_disk_export", { workspace_id: id, output_path }))?.code).toBe(REFUSED);
      }
      for (const format of ["tar", "ext4"]) {
        const disk = { workspace_id: id, output_path: `disk-${transport}.${format}`, format };
        expect(await session.call("workspace_disk_export", disk)).toMatchObject({
          output_path: join(project, ".cloche/exports", disk.output_path),
        });
        expect((await session.refusal("workspace_disk_export", disk))?.code).toBe("OUTPUT_EXISTS");
      }
    });
  });

  it("bring no git repository out, whatever it is called", async () => {
    await withSession(transport, inProject(), async (session) => {
      const id = await session.create();
      const command = `mkdir -p a/repo/objects a/repo/refs b/objects b/refs c; echo 'ref: refs/heads/x' | tee a/repo/HEAD >c/HEAD; echo plain >c/text`;
      expect(await session.call("workspace_exec", { workspace_id: id, command })).toMatchObject({ exit_code: 0 });
      const take = (path: string, output_path: string) => ({ workspace_id: id, path, output_path });
      for (const path of ["a", "a/repo", ".git", ".git/hooks", "."]) {
        expect((await session.refusal("workspace_export", take(path, `repo-${transport}`)))?.code, path).toBe(REFUSED);
      }
      for (const path of ["b", "c"]) await session.call("workspace_export", take(path, `${path}-${transport}`));
      for (const name of ["objects", "Objects", "commondir"])
        expect((await session.refusal("workspace_export", take("b/refs", `c-${transport}/${name}`)))?.code).toBe(
          "OUTPUT_INVALID",
        );
      expect((await session.refusal("workspace_export", take("c/HEAD", `b-${transport}/HEAD`)))?.code).toBe(
        "OUTPUT_INVALID",
      );
      await session.call("workspace_stop", { workspace_id: id });
      const archive = await session.call("workspace_disk_export", {
        workspace_id: id,
        output_path: `git-${transport}.tar`,
      });
      const names = execFileSync("tar", ["-tf", archive["output_path"] as string], { encoding: "utf8" });
      expect(names).toContain("c/text");
      expect(names).not.toContain(".git/");
    });
  });

  it("publish on no port that the host's services have", async () => {
    await withSession(transport, inProject(), async (session) => {
      const workspace_id = await session.create({ network_policy: "published-ports" });
      const published_ports = [{ guest_port: 8080, host_port: 80 }];
      const service = { workspace_id, service_name: "web", command: "sleep 60", published_ports };
      expect((await session.refusal("service_start", service))?.code).toBe(REFUSED);
    });
  });

  it("make workspaces of no environment but host and Debian's", async () => {
    await withSession(transport, inProject(), async (session) => {
      for (const environment of [
        `dockerfile:${project}/image`,
        "dockerfile:image",
        `dockerfile:${home}`,
        "docker:scratch",
        "docker:../../info",
        `smolmachine:${home}/keys.tar`,
        `${home}/keys.tar`,
        `file:${home}/keys.tar`,
        "hosts",
        "host:x",
        "debian",
      ]) {
        for (const [name, args] of [
          ["workspace_create", { environment }],
          ["vm_run", { environment, command: "true" }],
        ] as const) {
          const refusal = await session.refusal(name, args);
          expect([refusal?.code, refusal?.hint], `${name} ${environment}`).toEqual([
            REFUSED,
            expect.stringContaining(`--allow-environment ${environment}`),
          ]);
        }
      }
      expect(existsSync(at.path("ran"))).toBe(false);
    });
  });

  it("see and touch no workspace but their own", async () => {
    await withSession(transport, inProject(), async (session) => {
      const own = await session.create({ name: "own" });
      const listed = async () => (await session.call("workspace_list"))["workspaces"] as { workspace_id: string }[];
      expect((await listed()).map((one) => one.workspace_id)).not.toContain(foreign);
      const unknown = "ws-zzzzzzzzzz";
      for (const tool of Object.values(TOOLS).filter(({ input }) => "workspace_id" in input.shape)) {
        const told = async (id: string) => {
          const needed = Object.entries(tool.input.shape as Record<string, z.ZodType>).filter(
            ([, schema]) => !schema.safeParse(undefined).success,
          );
          const values = needed.map(([name]) => [name, NEEDED[name] ?? "x"] as const);
          const refusal = await session.refusal(tool.name, { ...Object.fromEntries(values), workspace_id: id });
          expect(refusal?.code, `${tool.name} of ${id}`).toBe("WORKSPACE_NOT_FOUND");
          return JSON.stringify(refusal).replaceAll(id, "ID");
        };
        expect(await told(foreign), tool.name).toBe(await told(unknown));
        expect(await told(foreign.slice(0, 9)), tool.name).toBe(await told(unknown.slice(0, 9)));
        expect(await told("foreign"), tool.name).toBe(await told("nobody"));
      }
      expect((await session.refusal("workspace_create", { from_workspace: foreign }))?.code).toBe(
        "WORKSPACE_NOT_FOUND",
      );
      const keyed = await session.create({ idempotency_key: "theirs" });
      expect(keyed).not.toBe(foreign);
      expect(await session.create({ idempotency_key: "theirs" })).toBe(keyed);

      for (const part of ["files/theirs.txt", "diff", "summary"]) {
        const { result, error } = await session.ask("resources/read", {
          uri: `cloche://workspaces/${foreign}/${part}`,
        });
        expect([result, error?.code], part).toEqual([undefined, -32602]);
        expect(JSON.stringify(error)).toContain("WORKSPACE_NOT_FOUND");
      }
      expect(JSON.stringify((await session.ask("resources/list")).result)).not.toContain(foreign);
      const ref = { type: "ref/resource", uri: "cloche://workspaces/{workspace_id}/diff" };
      const argument = { name: "workspace_id", value: "ws-" };
      const { completion } = (await session.ask("completion/complete", { ref, argument })).result as {
        completion: { values: string[] };
      };
      expect(completion.values).toContain(own);
      expect(completion.values).not.toContain(foreign);
      expect(await at.sdk.readWorkspaceFile(foreign, "theirs.txt")).toMatchObject({ content: KEY });
      expect((await at.sdk.logsWorkspace(foreign)).entries).toEqual([]);
    });
  });

  it("say whose a workspace is neither at its creation nor later, and are not shown it", async () => {
    await withSession(transport, inProject(), async (session) => {
      for (const labels of [{ "cloche.mcp": "project-0000" }, { "cloche.anything": "x" }]) {
        expect((await session.refusal("workspace_create", { labels }))?.code).toBe("INVALID_ARGUMENT");
      }
      const { workspace_id, labels } = await session.call("workspace_create", { labels: { mine: "yes" } });
      expect(labels).toEqual({ mine: "yes" });
      const stored = (await at.sdk.statusWorkspace(workspace_id as string)).labels["cloche.mcp"];
      expect(stored).toMatch(/^project-[0-9a-f]{16}$/);
      for (const change of [{ labels: { "cloche.mcp": "x" } }, { clear_labels: ["cloche.mcp"] }]) {
        expect((await session.refusal("workspace_update", { workspace_id, ...change }))?.code).toBe("INVALID_ARGUMENT");
      }
      const copies = [
        await session.call("workspace_fork", { workspace_id }),
        await session.call("workspace_create", { from_workspace: workspace_id }),
        await session.call("workspace_create", { from_workspace: workspace_id, labels: {} }),
      ];
      for (const copy of copies) {
        expect(JSON.stringify(copy)).not.toContain("cloche.mcp");
        expect((await at.sdk.statusWorkspace(copy["workspace_id"] as string)).labels["cloche.mcp"]).toBe(stored);
      }
      // A copy that the user makes is the user's.
      const id = workspace_id as string;
      for (const copy of [await at.sdk.forkWorkspace(id), await at.sdk.createWorkspace({ from_workspace: id })]) {
        expect(copy.labels).toEqual({ mine: "yes" });
        expect((await session.refusal("workspace_status", { workspace_id: copy.workspace_id }))?.code).toBe(
          "WORKSPACE_NOT_FOUND",
        );
        await at.sdk.deleteWorkspace(copy.workspace_id);
      }
    });
  });

  it("reach nothing of the host without a project", async () => {
    await withSession(transport, { profile: "workspace-full" }, async (session) => {
      const id = await session.create();
      for (const path of [project, join(project, "src"), home, ".", "/"]) {
        expect((await session.refusal("workspace_create", { seed_path: path }))?.code, path).toBe(REFUSED);
        const push = { workspace_id: id, source_path: path };
        expect((await session.refusal("workspace_sync_push", push))?.code, path).toBe(REFUSED);
      }
      await session.call("workspace_file_write", { workspace_id: id, path: "x", text: "x" });
      for (const output_path of ["x", at.path("x"), join(project, ".cloche/exports/y")]) {
        const refusal = await session.refusal("workspace_export", { workspace_id: id, path: "x", output_path });
        expect([refusal?.code, refusal?.hint]).toEqual([REFUSED, expect.stringContaining("--output-dir")]);
      }
      expect(JSON.stringify(await session.call("workspace_list"))).not.toContain(foreign);
    });
  });

  it("G-32: bring nothing that git ignores unless the operator has named it, and a secret only by its name", async () => {
    const asking = [
      ["workspace_create", {}],
      ["workspace_create", { seed_path: "src" }],
      ["vm_run", { seed_path: ".", command: "grep -rah . ." }],
    ] as const;
    await withSession(transport, inProject(), async (session) => {
      const id = await session.create();
      for (const wish of [
        { include_ignored: true },
        { include: [".env"] },
        { include: ["**"], include_ignored: false },
      ]) {
        for (const [name, args] of asking) {
          const refusal = await session.refusal(name, { ...args, ...wish });
          expect([refusal?.code, refusal?.hint]).toEqual([REFUSED, expect.stringContaining("--allow-ignored")]);
        }
      }
      expect((await session.refusal("workspace_create", { include: ["../user"] }))?.code).toBe("INVALID_ARGUMENT");
      expect((await session.refusal("workspace_sync_push", { workspace_id: id, source_path: ".env" }))?.code).toBe(
        REFUSED,
      );
      expect(await contentOf(session, id)).not.toContain(KEY);
    });
    await withSession(transport, inProject({ allow_ignored: ["node_modules", "**"] }), async (session) => {
      for (const wish of [{ include_ignored: true }, { include: [".env", "/.env", ".e*", "node_modules"] }]) {
        const id = await session.create(wish);
        const { stdout } = await session.call("workspace_exec", {
          workspace_id: id,
          command: "ls -A; ls node_modules",
        });
        expect(String(stdout).split("\n")).toEqual(expect.arrayContaining(["node_modules", "x"]));
        expect(String(stdout).split("\n")).not.toContain(".env");
      }
    });
    await withSession(transport, inProject({ allow_ignored: ["/.env"] }), async (session) => {
      const made = await session.call("workspace_create", { include: [".env", "node_modules"] });
      const { stdout } = await session.call("workspace_exec", {
        workspace_id: String(made["workspace_id"]),
        command: "ls -A",
      });
      expect(String(stdout).split("\n")).toContain(".env");
      expect(String(stdout)).not.toContain("node_modules");
      expect(made["workspace_seed"]).toMatchObject({ included: { secrets: [".env"], is_remembered: false } });
    });
  });

  it("reach what the operator adds, and no more", async () => {
    const open = at.path(`open-${transport}`);
    write(join(open, "in/x"), "open\n");
    symlinkSync(join(home, ".ssh"), join(open, "keys"));
    const options = inProject({
      allow_read: [open],
      allow_write: [at.path("allowed"), at.path(`exact-${transport}`)],
      allow_environment: ["host", `dockerfile:${project}/*`],
      output_dir: at.path(`out-${transport}/made`),
      all_workspaces: true,
    });
    mkdirSync(at.path("allowed"), { recursive: true });
    await withSession(transport, options, async (session) => {
      const id = await session.create({ seed_path: join(open, "in") });
      expect(await contentOf(session, id)).toBe("open\n");
      expect((await session.refusal("workspace_create", { seed_path: join(open, "keys") }))?.code).toBe(REFUSED);
      const secrets = [{ name: "K", file_path: join(open, "in/x") }];
      expect(await session.create({ secrets, seed_path: join(open, "in") })).toMatch(/^ws-/);
      const stolen = [{ name: "K", file_path: join(open, "keys/id_ed25519") }];
      expect((await session.refusal("workspace_create", { secrets: stolen }))?.code).toBe(REFUSED);

      const take = (output_path: string) => ({ workspace_id: id, path: "x", output_path });
      await session.call("workspace_export", take("one"));
      await session.call("workspace_export", take(at.path(`out-${transport}/made/two`)));
      await session.call("workspace_export", take(at.path(`allowed/${transport}`)));
      await session.call("workspace_export", take(at.path(`exact-${transport}`)));
      expect(readdirSync(at.path(`out-${transport}/made`))).toEqual(["one", "two"]);
      for (const output_path of [
        at.path("allowed/.x"),
        at.path("allowed/.git/x"),
        at.path(`out-${transport}/x`),
        at.path("x"),
      ]) {
        expect((await session.refusal("workspace_export", take(output_path)))?.code, output_path).toBe(REFUSED);
      }
      expect((await session.refusal("workspace_create", { environment: "docker:x" }))?.code).toBe(REFUSED);
      // Named, and so looked for: that there is none is another matter.
      const missing = await session.refusal("workspace_create", { environment: `dockerfile:${project}/src` });
      expect(missing?.code).toBe("ENVIRONMENT_NOT_FOUND");
      expect(await session.call("workspace_file_read", { workspace_id: foreign, path: "theirs.txt" })).toMatchObject({
        content: KEY,
      });
    });
  });
});

/** Values for arguments that a call cannot do without. */
const NEEDED: Readonly<Record<string, unknown>> = {
  command: "true",
  patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
  source_path: "src",
  output_path: "taken",
  cols: 80,
  rows: 24,
};

/** What an export could have changed. */
function snapshot(): string[] {
  const below = (folder: string) =>
    existsSync(folder) ? execFileSync("find", [folder, "-printf", "%p %y %s\n"], { encoding: "utf8" }).split("\n") : [];
  return [
    ...below(home),
    ...below(join(project, ".git")),
    ...below(join(project, ".cloche")),
    ...readdirSync(project),
  ].sort();
}

describe("G-23: links lead no export elsewhere", () => {
  const exportTo = (folder: string, output_path: string, more: ServerOptions = {}) =>
    withSession("stdio", { project_path: folder, ...more }, async (session) => {
      const id = await session.create();
      await session.call("workspace_file_write", { workspace_id: id, path: "x", text: "ssh-ed25519 attacker\n" });
      const refusal = await session.refusal("workspace_export", { workspace_id: id, path: "x", output_path });
      await session.call("workspace_delete", { workspace_id: id });
      return refusal?.code;
    });

  it.each([
    [".cloche", "../target"],
    [".cloche/exports", "../../target"],
    [".cloche/exports/sub", "../../../target"],
    [".cloche", "nowhere"],
    [".cloche/exports", "../nowhere"],
    [".cloche/exports/authorized_keys", "../../../target/authorized_keys"],
  ])("%s as a link to %s, as a project may bring it", async (link, leadsTo) => {
    const hostile = at.path(`hostile-${link.replaceAll("/", "_")}-${leadsTo.replaceAll(/\W/g, "")}`, "project");
    const target = join(hostile, "../target");
    mkdirSync(target, { recursive: true });
    mkdirSync(join(hostile, link, ".."), { recursive: true });
    symlinkSync(leadsTo, join(hostile, link));
    const output = link.endsWith("sub") ? "sub/authorized_keys" : "authorized_keys";
    expect(await exportTo(hostile, output)).toMatch(/^OUTPUT_(INVALID|EXISTS)$/);
    expect(readdirSync(target)).toEqual([]);
    expect(existsSync(join(hostile, "nowhere"))).toBe(false);
    expect(lstatSync(join(hostile, link)).isSymbolicLink()).toBe(true);
  });

  it("a link that an export itself has brought", async () => {
    const plain = at.path("plain");
    mkdirSync(plain);
    await withSession("stdio", { project_path: plain }, async (session) => {
      const id = await session.create();
      const command = `mkdir d && ln -s ${home}/.ssh d/out && echo evil > key`;
      await session.call("workspace_exec", { workspace_id: id, command });
      await session.tool("workspace_export", { workspace_id: id, path: "d", output_path: "d" });
      await session.tool("workspace_export", { workspace_id: id, path: "d/out", output_path: "link" });
      for (const output_path of ["d/out/authorized_keys", "link/authorized_keys"]) {
        const refusal = await session.refusal("workspace_export", { workspace_id: id, path: "key", output_path });
        expect(refusal?.code).toBe("OUTPUT_INVALID");
      }
      for (const seed_path of [".cloche/exports/d/out", ".cloche/exports/link"]) {
        const refusal = await session.refusal("workspace_create", { seed_path });
        expect(refusal?.code).toMatch(/^(HOST_ACCESS_REFUSED|SEED_NOT_FOUND)$/);
      }
      expect(readdirSync(join(home, ".ssh"))).toEqual(["id_ed25519"]);
    });
  });

  it("a repository in an exported folder stays in the sandbox", async () => {
    const plain = at.path("with-git");
    mkdirSync(plain);
    await withSession("stdio", { project_path: plain }, async (session) => {
      const id = await session.create();
      const command =
        "mkdir -p r/.git/hooks r/sub && echo x > r/a && echo evil > r/.git/hooks/pre-commit && echo 'gitdir: /x' > r/sub/.git";
      await session.call("workspace_exec", { workspace_id: id, command });
      await session.call("workspace_export", { workspace_id: id, path: "r", output_path: "r" });
      expect(readdirSync(join(plain, ".cloche/exports/r")).sort()).toEqual(["a", "sub"]);
      expect(readdirSync(join(plain, ".cloche/exports/r/sub"))).toEqual([]);
    });
  });
});

describe("G-23: whose the workspaces are", () => {
  const PLAIN = { profile: "workspace-full" } as const;
  const folder = (name: string): string => {
    const path = at.path(name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const sees = (transport: Transport, options: ServerOptions, id: string) =>
    withSession(transport, options, async (session) => {
      const refusal = await session.refusal("workspace_status", { workspace_id: id });
      return refusal === undefined;
    });

  it("a server of the same project that is started again finds its own, over any transport; one of another project does not", async () => {
    const options = { project_path: folder("one") };
    const id = await withSession("stdio", options, (session) => session.create());
    symlinkSync("one", at.path("also-one"));
    for (const transport of TRANSPORTS) {
      expect(await sees(transport, options, id), transport).toBe(true);
      expect(await sees(transport, { project_path: at.path("also-one") }, id), transport).toBe(true);
      expect(await sees(transport, { project_path: folder("two") }, id), transport).toBe(false);
      expect(await sees(transport, { project_path: folder("one/below") }, id), transport).toBe(false);
      expect(await sees(transport, PLAIN, id), transport).toBe(false);
    }
  });

  it("what a server brought in that may read more is not for one that may not", async () => {
    const options = { project_path: folder("three") };
    const more = { ...options, allow_read: [home] };
    const id = await withSession("stdio", more, (session) => session.create({ seed_path: join(home, ".ssh") }));
    expect(await sees("stdio", more, id)).toBe(true);
    expect(await sees("stdio", options, id)).toBe(false);
    const ignored = { ...options, allow_ignored: ["node_modules"] };
    const other = await withSession("stdio", ignored, (session) => session.create());
    expect(await sees("stdio", options, other)).toBe(false);
  });

  it("what a server opened that may open sandboxes is not for one that may not; the other way round it is", async () => {
    const options = { project_path: folder("four"), profile: "workspace-core" } as const;
    const full = { ...options, profile: "workspace-full" } as const;
    const opened = await withSession("stdio", full, (session) => session.create());
    const plain = await withSession("stdio", options, (session) => session.create());
    expect(await sees("stdio", full, opened)).toBe(true);
    expect(await sees("stdio", options, opened)).toBe(false);
    expect(await sees("stdio", full, plain)).toBe(true);
  });

  it("without a project they are the session's", async () => {
    for (const transport of TRANSPORTS) {
      await withSession(transport, PLAIN, async (session) => {
        const id = await session.create();
        expect(await session.refusal("workspace_status", { workspace_id: id })).toBeUndefined();
        expect(await sees(transport, PLAIN, id), transport).toBe(false);
      });
    }
  });

  it("a home that is kept in git is no project by itself", async () => {
    const kept = at.path("kept");
    write(join(kept, ".ssh/id"), KEY);
    mkdirSync(join(kept, "work"));
    git(kept, "init", "-q");
    const client = new McpClient(at, [], { cwd: join(kept, "work"), env: { HOME: kept } });
    await client.open();
    const made = await client.call("workspace_create");
    expect(made["workspace_seed"]).toMatchObject({ mode: "empty" });
    expect((await client.fails("workspace_create", { seed_path: kept })).code).toBe(REFUSED);
    await client.close();
  });
});

it("G-23: no tool offers what only the server says, and options of the address are judged", async () => {
  for (const { name, input } of Object.values(TOOLS)) {
    const offered = JSON.stringify(Object.keys(input.shape));
    expect(offered, name).not.toMatch(/read_scope|cautious|oci_runtime|origin_|within/);
  }
  for (const query of ["allow_read=relative", "output_dir=x", "all_workspaces=yes", "allow_everything=true"]) {
    const [name, value] = query.split("=") as [string, string];
    await expect(McpSession.open("http", at, { [name]: value }), query).rejects.toThrow(/400/);
  }
});
