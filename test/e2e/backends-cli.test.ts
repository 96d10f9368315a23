import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { BUILT_IN_BACKENDS } from "../../src/model/vocabulary.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { type CliResult, Installation, PROJECT, eventually } from "../helpers/installation.ts";
import { makeOwnCache } from "../helpers/own-cache.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const BACKENDS = BUILT_IN_BACKENDS;
/** A machine may have to boot first. */
const PATIENT = { timeout: 300_000 };
const text = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

const docker = useDockerEngine();
const smolvm = new SmolvmStandIn();
let at: Installation;
/** Where neither an engine nor smolvm nor QEMU is to be found. */
let bare: Installation;
let bin: string;
beforeAll(() => {
  at = new Installation("bc", { ...docker.engine.env, ...smolvm.env });
  bin = mkdtempSync(join(tmpdir(), "cl-bb-"));
  bare = new Installation("bb", { PATH: bin, DOCKER_HOST: "unix:///nowhere/docker.sock" });
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
  await bare[Symbol.asyncDispose]();
  expect(await docker.engine.leftovers()).toEqual([]);
  expect(await smolvm.machines()).toEqual([]);
  await smolvm.remove();
  await removeTree(bin);
});

const workspaces = async (of = at): Promise<string[]> =>
  (await of.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id);
const layers = (): string[] => (existsSync(join(at.home, "layers")) ? readdirSync(join(at.home, "layers")) : []);
const idOf = ({ code, stdout, stderr }: CliResult): string => {
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim();
};

/** What a refusal looks like to a script and to a person, and that it leaves nothing. */
async function expectRefused(
  words: string[],
  refusal: { exit: number; code: string; message: RegExp; hint: RegExp },
  of = at,
): Promise<void> {
  const before = [await workspaces(of), layers()];
  const asked = await cliInProcess(of, [...words, "--json"]);
  expect(asked.json()["error"]).toMatchObject({
    code: refusal.code,
    message: text(refusal.message),
    hint: text(refusal.hint),
  });
  expect(asked.code).toBe(refusal.exit);
  const told = await of.cli(words);
  expect([told.code, told.stdout]).toEqual([refusal.exit, ""]);
  expect(told.stderr).toMatch(/^error: .+\nhint: .+\n$/);
  expect([await workspaces(of), layers()]).toEqual(before);
}

describe("prepare", PATIENT, () => {
  it.each(BACKENDS)("makes debian:12 ready on %s and proves it, in words and as JSON", async (backend) => {
    const told = await at.cli(["prepare", "debian:12", "--backend", backend]);
    expect([told.code, told.stderr]).toEqual([0, ""]);
    const steps = ["environment ready", "backend ready", "created", "ran a command", "reset", "deleted"];
    const lines = told.stdout.trim().split("\n");
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([...steps, `Ready: debian:12 on ${backend}`]);
    const asked = await at.cli(["prepare", "debian:12", "--backend", backend, "--json"]);
    expect(asked.json()).toEqual({
      environment: "debian:12",
      backend,
      ready: true,
      steps: ["environment", "backend", "create", "exec", "reset", "delete"].map((step) => ({
        step,
        duration_ms: expect.any(Number) as number,
      })),
    });
    expect(await workspaces()).toEqual([]);
  });

  it("tells its steps on a terminal, in one line that is gone at the end; with --verbose as lines", async () => {
    const shown = await onTerminal(["prepare", "host"]);
    for (const step of ["creating a workspace", "resetting it", "deleting it"])
      expect(shown.text).toContain(`\r\u001B[K${step}`);
    expect(shown.code).toBe(0);
    const told = await at.cli(["prepare", "host", "--verbose"]);
    expect(told.stderr.split("\n")).toEqual(expect.arrayContaining(["creating a workspace", "deleting it"]));
  });

  it("refuses what there is not, and what a backend cannot", async () => {
    const refused = [
      [["nope:1"], 2, "ENVIRONMENT_NOT_FOUND", /no environment "nope:1"/, /host, debian:12/],
      [["host", "--backend", "nope"], 2, "BACKEND_NOT_FOUND", /no backend "nope"/, /container, docker, vm/],
      [["host", "--backend", "vm"], 1, "NOT_SUPPORTED", /cannot show folders/, /debian:12/],
      [["host", "--backend", "smolmachines"], 1, "NOT_SUPPORTED", /cannot show folders/, /debian:12/],
    ] as const;
    for (const [words, exit, code, message, hint] of refused)
      await expectRefused(["prepare", ...words], { exit, code, message, hint });
  });

  it("says what to install for a backend that is not there", async () => {
    const missing = [
      ["docker", /No Docker engine answers/, /apt-get install docker\.io/],
      ["vm", /qemu-system-x86_64 is not installed/, /apt-get install qemu-system-x86/],
      ["smolmachines", /smolvm is not installed/, /Install smolvm/],
    ] as const;
    for (const [backend, message, hint] of missing) {
      const words = ["prepare", "debian:12", "--backend", backend];
      await expectRefused(words, { exit: 125, code: "BACKEND_UNAVAILABLE", message, hint }, bare);
    }
  });

  it("ended with Ctrl-C while a machine boots leaves nothing, and can be asked for again", async () => {
    const cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-bp-")));
    const own = new Installation("bp", { CLOCHE_CACHE: cache });
    const { code, text: shown } = await onTerminal(["prepare", "debian:12", "--backend", "vm"], {
      of: own,
      // Not before QEMU has the template's files.
      interruptWhen: () =>
        filesIn(join(cache, "vm/templates")).some(
          (name) => name.startsWith(".tmp-") && existsSync(join(cache, "vm/templates", name, "wall.pid")),
        ),
    });
    expect(code).toBe(130);
    expect(shown).toContain("booting a machine");
    expect(shown.endsWith("\r\u001B[Kcancelled\r\n")).toBe(true);
    await eventually(() => expect(filesIn(join(cache, "vm/templates"))).toEqual([]));
    expect(await workspaces(own)).toEqual([]);
    expect((await own.cli(["prepare", "debian:12", "--backend", "vm"])).code).toBe(0);
    await own[Symbol.asyncDispose](); // which sees that no process is left
    await removeTree(cache);
  });
});

const filesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".lock-")) : [];

/** Runs the CLI at a terminal of its own; types Ctrl-C when it is time. */
async function onTerminal(
  words: string[],
  { of = at, interruptWhen }: { of?: Installation; interruptWhen?: () => boolean } = {},
): Promise<{ code: number | null; text: string }> {
  const program = [process.execPath, join(PROJECT, "dist/cli/main.js"), ...words].join(" ");
  const child = spawn("script", ["-qefc", `stty cols 200; exec ${program}`, "/dev/null"], { env: of.env });
  let shown = "";
  child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  if (interruptWhen) {
    await eventually(() => expect(interruptWhen()).toBe(true), 60);
    child.stdin.write("\u0003");
  }
  const code = await ended;
  return { code, text: shown };
}

describe("doctor", PATIENT, () => {
  it("tells of every backend whether it works and what else it can, in a table and as JSON", async () => {
    const { code, stdout } = await at.cli(["doctor"]);
    expect(code).toBe(0);
    for (const backend of BACKENDS) expect(stdout).toMatch(new RegExp(`^ {2}✓ ${backend} +memory, pids, cpu `, "m"));
    expect(stdout).toMatch(/\nReady: the default backend, container, works\n$/);
    const asked = await at.cli(["doctor", "--json"]);
    expect(asked.json()).toMatchObject({
      healthy: true,
      default_backend: "container",
      backends: BACKENDS.map((name) => ({ name, available: true, detail: expect.any(String) as string, hint: null })),
    });
  });

  it("says why a backend does not work and what to install; its exit code is of the default one", async () => {
    expect((await bare.cli(["doctor"])).stdout).toMatch(/\nReady: the default backend, container, works\n$/);
    const { code, stdout } = await bare.cli(["doctor"], { env: { CLOCHE_BACKEND: "vm" } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ docker .*No Docker engine answers/);
    expect(stdout).toMatch(/✗ vm .*qemu-system-x86_64 is not installed/);
    expect(stdout).toMatch(/✗ smolmachines .*smolvm is not installed/);
    for (const hint of [
      /^hint: docker: .*apt-get install docker\.io/m,
      /^hint: vm: .*apt-get install qemu-system-x86/m,
      /^hint: smolmachines: Install smolvm/m,
    ])
      expect(stdout.replaceAll(/\n {6}/g, " ")).toMatch(hint);
    expect(stdout).toMatch(/\nNot ready: the default backend, vm, does not work\n$/);
    const { backends } = (await bare.cli(["doctor", "--json"])).json() as { backends: object[] };
    expect(backends).toEqual(
      BACKENDS.map(
        (name) =>
          expect.objectContaining(
            name === "container"
              ? { name, available: true, hint: null }
              : { name, available: false, hint: text(/[Ii]nstall/), detail: text(/./) },
          ) as object,
      ),
    );
  });

  it("tells what it does while it finds out about machines for the first time", async () => {
    const cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-bd-")));
    await removeTree(join(cache, "vm/accelerators"));
    const own = new Installation("bd", { CLOCHE_CACHE: cache });
    try {
      const first = await own.cli(["doctor", "--verbose"]);
      expect([first.code, first.stderr]).toEqual([0, "trying whether a machine boots\n"]);
      expect((await own.cli(["doctor", "--verbose"])).stderr).toBe("");
    } finally {
      await own[Symbol.asyncDispose]();
      await removeTree(cache);
    }
  });

  it("takes CLOCHE_BACKEND for the default", async () => {
    const chosen = async (backend: string, of: Installation) => {
      const { code, json } = await of.cli(["doctor", "--json"], { env: { CLOCHE_BACKEND: backend } });
      return [code, json()["healthy"], json()["default_backend"]];
    };
    expect(await chosen("vm", at)).toEqual([0, true, "vm"]);
    expect(await chosen("docker", bare)).toEqual([1, false, "docker"]);
    expect(await chosen("nope", at)).toEqual([1, false, "nope"]);
  });
});

describe("workspace create", PATIENT, () => {
  it.each(BACKENDS)(
    "refuses on %s what the host does not have, at once and before anything is made",
    async (backend) => {
      const create = ["workspace", "create", "debian:12", "--backend", backend];
      const refused = { exit: 2, code: "INVALID_ARGUMENT" };
      const processors = cpus().length;
      await expectRefused([...create, "--vcpu-count", String(processors + 1)], {
        ...refused,
        message: new RegExp(`this host has ${processors}$`),
        hint: /--vcpu-count/,
      });
      await expectRefused([...create, "--mem-mib", "1000000"], {
        ...refused,
        message: /^A workspace cannot have 1000000 MiB of memory: this host has \d+ MiB$/,
        hint: /--mem-mib/,
      });
    },
  );

  it("refuses a machine that is too small to boot, also for a workspace that comes from another backend", async () => {
    const small = { exit: 2, code: "INVALID_ARGUMENT", message: /64 MiB .* too few/, hint: /--mem-mib .* 128 or more/ };
    await expectRefused(["workspace", "create", "--backend", "vm", "--mem-mib", "64"], small);
    const id = idOf(await at.cli(["workspace", "create", "debian:12", "--mem-mib", "64", "--id-only"]));
    await expectRefused(["workspace", "create", "--from-workspace", id, "--backend", "vm"], small);
    await at.sdk.deleteWorkspace(id);
    const { workspace_id: least } = await at.sdk.createWorkspace({ backend: "vm", mem_mib: 128 });
    expect((await at.sdk.execWorkspace(least, { command: "git --version && python3 -c 'print(1)'" })).exit_code).toBe(
      0,
    );
    await at.sdk.deleteWorkspace(least);
  });
});

describe("workspace create --from-workspace", PATIENT, () => {
  let project: string;
  beforeAll(() => {
    project = at.path("project");
    mkdirSync(project);
    writeFileSync(join(project, "kept"), "as it was\n");
    writeFileSync(join(project, "changed"), "as it was\n");
    writeFileSync(join(project, "removed"), "as it was\n");
  });

  /** What only looks at what was made needs no process of its own. */
  const here = (...words: string[]) => cliInProcess(at, words);
  const create = async (...words: string[]): Promise<string> =>
    idOf(await at.cli(["workspace", "create", "--id-only", ...words]));
  const make = async (backend: string): Promise<string> => {
    const words = ["debian:12", "--backend", backend, "--seed-path", project];
    const id = await create(...words, "--name", "mover", "--label", "team=web", "--label", "n=1");
    const script = "echo new > changed; rm removed; mkdir -p dir; printf '\\0\\377' > dir/bytes; chmod 755 dir/bytes";
    expect((await at.cli(["workspace", "exec", id, "--", "sh", "-c", script])).code).toBe(0);
    return id;
  };
  const diff = async (id: string): Promise<string> => (await here("workspace", "diff", id)).stdout;

  it.each([
    ["container", "docker"],
    ["docker", "vm"],
    ["vm", "smolmachines"],
    ["smolmachines", "container"],
    ["vm", "vm"],
  ])(
    "carries files, name, labels and baseline from %s to %s, running or stopped; the first one stays",
    async (from, to) => {
      const id = await make(from);
      const before = await diff(id);
      expect(before).toContain("+new");
      const moved = await create("--from-workspace", id, "--backend", to);
      await at.cli(["workspace", "stop", id]);
      const again = await create("--from-workspace", id, "--backend", to, "--name", "second", "--label", "team=ops");
      for (const [one, name, labels] of [
        [moved, "mover", { team: "web", n: "1" }],
        [again, "second", { team: "ops" }],
      ] as const) {
        expect((await here("workspace", "status", one, "--json")).json()).toMatchObject({
          name,
          labels,
          backend: to,
          environment: "debian:12",
          state: "started",
        });
        expect(await diff(one)).toBe(before);
        const script = "cat kept changed; ls removed 2>&1; stat -c '%a %U' dir/bytes; od -An -tx1 dir/bytes";
        const { stdout } = await here("workspace", "exec", one, "--", "sh", "-c", script);
        expect(stdout).toMatch(/^as it was\nnew\n.*No such file.*\n755 agent\n 00 ff\n$/);
        // Its baseline is that of the first.
        expect((await here("workspace", "reset", one)).code).toBe(0);
        expect(await diff(one)).toBe("");
      }
      expect((await here("workspace", "status", id, "--json")).json()).toMatchObject({
        state: "stopped",
        name: "mover",
      });
      for (const one of [id, moved, again]) await at.sdk.deleteWorkspace(one);
      expect(layers()).toEqual([]);
    },
  );

  it("refuses what cannot be, and leaves the first one as it is", async () => {
    const id = await make("container");
    const before = await diff(id);
    const from = ["workspace", "create", "--from-workspace"];
    const refused = [
      [["ws-none"], 1, "WORKSPACE_NOT_FOUND", /no workspace "ws-none"/, /workspace list/],
      [[id, "--seed-path", project], 2, "INVALID_ARGUMENT", /not from both/, /--seed-path.*--from-workspace/],
      [[id, "--backend", "nope"], 2, "BACKEND_NOT_FOUND", /no backend "nope"/, /container, docker/],
      [[id, "nope:1"], 2, "ENVIRONMENT_NOT_FOUND", /no environment "nope:1"/, /debian:12/],
      [
        [id, "host", "--backend", "vm"],
        1,
        "NOT_SUPPORTED",
        /cannot show folders/,
        /create debian:12 --from-workspace ws/,
      ],
    ] as const;
    for (const [words, exit, code, message, hint] of refused)
      await expectRefused([...from, ...words], { exit, code, message, hint });
    smolvm.misbehave({ fail: { create: "no space for the image" } });
    await expectRefused([...from, id, "--backend", "smolmachines"], {
      exit: 125,
      code: "SANDBOX_START_FAILED",
      message: /no space for the image/,
      hint: /smolvm machine ls/,
    });
    smolvm.misbehave({});
    expect(await diff(id)).toBe(before);
    await docker.engine.kill();
    try {
      await expectRefused([...from, id, "--backend", "docker"], {
        exit: 125,
        code: "BACKEND_UNAVAILABLE",
        message: /No Docker engine answers|went away/,
        hint: /docker/,
      });
    } finally {
      await docker.engine.revive();
    }
    expect(await diff(id)).toBe(before);
    await at.sdk.deleteWorkspace(id);
  });
});

describe("help and completion", () => {
  it("tell of prepare, doctor and --from-workspace, with examples, and know workspaces, backends and environments", async () => {
    const help = async (...words: string[]) => (await at.cli([...words, "--help"])).stdout;
    expect(await help("prepare")).toContain("cloche prepare debian:12 --backend vm");
    expect(await help("doctor")).toContain("CLOCHE_BACKEND=vm cloche doctor");
    expect(await help("workspace", "create")).toContain(
      "cloche workspace create debian:12 --from-workspace ID --backend vm",
    );
    expect(await help("env", "prune")).toContain("cloche env prune");
    const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host", backend: "container" });
    const complete = async (...words: string[]) =>
      (await at.cli(["__complete", "--", ...words])).stdout.split("\n").map((line) => line.split("\t")[0]);
    expect(await complete("workspace", "create", "--from-workspace", "")).toContain(id);
    expect(await complete("prepare", "--backend", "")).toEqual([...BACKENDS, ""]);
    expect(await complete("workspace", "create", "--backend=v")).toEqual(["--backend=vm", ""]);
    expect(await complete("prepare", "deb")).toContain("debian:12");
    await at.sdk.deleteWorkspace(id);
  });
});
