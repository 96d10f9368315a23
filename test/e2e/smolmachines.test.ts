import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SmolmachinesBackend } from "../../src/backends/smolmachines/smolmachines-backend.ts";
import { Smolvm } from "../../src/backends/smolmachines/smolvm.ts";
import { currentIdMap } from "../../src/base/id-map.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

const smolvm = new SmolvmStandIn();
let at: Installation;
/** On another backend, so that it has nothing to do with what goes wrong. */
let bystander: string;
beforeAll(async () => {
  at = new Installation("sm", smolvm.env);
  bystander = (await at.sdk.createWorkspace({ backend: "container", environment: "host" })).workspace_id;
});
beforeEach(() => smolvm.misbehave({}));
afterAll(async () => {
  smolvm.misbehave({});
  await at[Symbol.asyncDispose]();
  expect(await smolvm.machines()).toEqual([]);
  await smolvm.remove();
});

const create = async (options = {}) =>
  (await at.sdk.createWorkspace({ backend: "smolmachines", environment: "debian:12", ...options })).workspace_id;
const unharmed = async () =>
  expect((await at.sdk.execWorkspace(bystander, { command: "echo alive" })).stdout).toBe("alive\n");
const ids = async () => (await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id);

describe("a smolvm that does not do its part", () => {
  it.each([
    ["cannot make a machine", { fail: { create: "no space for the image" } }, "SANDBOX_START_FAILED", "no space for"],
    [
      "cannot start one",
      { fail: { start: "/dev/kvm: permission denied" } },
      "SANDBOX_START_FAILED",
      "permission denied",
    ],
    ["prints garbage at the start", { garbage: ["start"] }, "SANDBOX_START_FAILED", "named no process"],
    ["dies when it has made a machine", { die: ["create"] }, "SANDBOX_START_FAILED", "killed"],
    ["dies when it has started one", { die: ["start"] }, "SANDBOX_START_FAILED", "killed"],
    ["dies when it has copied", { die: ["cp"] }, "SANDBOX_START_FAILED", "killed"],
    ["cannot copy", { fail: { cp: "agent is gone" } }, "SANDBOX_START_FAILED", "agent is gone"],
  ])("because it %s: a clear error, nothing left, others unharmed", async (_what, faults, code, words) => {
    const before = await ids();
    smolvm.misbehave(faults);
    await expect(create()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
      hint: expect.any(String) as string,
    });
    smolvm.misbehave({});
    expect(await ids()).toEqual(before);
    expect(await smolvm.machines()).toEqual([]);
    await unharmed();
  });

  it("because it hangs: the call ends, and so does the machine", async () => {
    const directory = at.path("hanging");
    mkdirSync(directory);
    const { env } = process;
    process.env = { ...env, ...smolvm.env };
    try {
      const backend = new SmolmachinesBackend({
        home: at.home,
        cache: at.path("own-cache"),
        idMap: currentIdMap(),
        log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
        smolvm: new Smolvm({ quickMs: 30_000, bootMs: 5000, copyMs: 30_000 }),
      });
      for (const name of ["root", "baseline"]) mkdirSync(join(directory, name));
      const spec = {
        sandboxName: "ws-hanging-g1",
        directory,
        rootfs: { name: "empty", digest: "0", root: join(directory, "root"), hostPaths: [], coveredPaths: [] },
        baseline: join(directory, "baseline"),
        layers: [],
        hostname: "h",
        limits: { vcpuCount: 1, memMib: 128, pids: 64, diskMib: undefined },
        ociRuntime: undefined,
      };
      smolvm.misbehave({ hang: ["start"] });
      await expect(backend.start(spec, undefined)).rejects.toThrow(
        failing("BACKEND_UNAVAILABLE", '"smolvm machine start" did not end within 5 seconds'),
      );
      smolvm.misbehave({});
      await backend.remove(spec.sandboxName, directory);
    } finally {
      process.env = env;
    }
    expect(await smolvm.machines()).toEqual([]);
    await unharmed();
  });

  it("because it is too old, prints garbage, or is not installed: doctor and a creation say what to install", async () => {
    const other = new Installation("sx", { ...smolvm.env, PATH: process.env["PATH"] });
    try {
      const { backends, healthy } = await other.sdk.doctor();
      expect(healthy).toBe(true);
      expect(backends.find(({ name }) => name === "smolmachines")).toMatchObject({
        available: false,
        detail: "smolvm is not installed",
        hint: expect.stringContaining("Install smolvm 1.8.0") as string,
      });
      const refused = other.sdk.createWorkspace({ backend: "smolmachines", environment: "debian:12" });
      await expect(refused).rejects.toThrow(failing("BACKEND_UNAVAILABLE", "smolvm is not installed"));
    } finally {
      await other[Symbol.asyncDispose]();
    }
    const old = new Installation("so", smolvm.env);
    try {
      for (const [version, words] of [
        ["smolvm 0.8.0", "smolvm 0.8.0 is too old"],
        ["<html>502</html>", '"smolvm --version" printed "<html>502</html>"'],
      ] as const) {
        smolvm.misbehave({ version });
        const refused = old.sdk.createWorkspace({ backend: "smolmachines", environment: "debian:12" });
        await expect(refused).rejects.toThrow(failing("BACKEND_UNAVAILABLE", words));
        const { backends } = await old.sdk.doctor();
        expect(backends.find(({ name }) => name === "smolmachines")).toMatchObject({
          available: false,
          detail: words,
          hint: expect.stringContaining("Install smolvm 1.8.0") as string,
        });
      }
      expect((await old.sdk.listWorkspaces()).count).toBe(0);
    } finally {
      await old[Symbol.asyncDispose]();
    }
  });
});

describe("a machine", () => {
  it("that is deleted behind our back: its workspace has failed, says why, and can be deleted", async () => {
    const id = await create();
    const [machine] = await smolvm.machines();
    await promisify(execFile)("smolvm", ["machine", "delete", "-n", machine?.name ?? "", "-f"], {
      env: { ...process.env, ...smolvm.env },
    });
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
    await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toThrow(failing("WORKSPACE_NOT_RUNNING"));
    await expect(at.sdk.createSnapshot(id, "late")).rejects.toThrow(failing("SANDBOX_LOST"));
    await unharmed();
    await at.sdk.deleteWorkspace(id);
  });

  it("whose process is killed: its workspace has failed, and starts again with its files", async () => {
    const id = await create();
    await at.sdk.execWorkspace(id, { command: "echo kept > kept; sync" });
    const [machine] = await smolvm.machines();
    process.kill((machine as { pid?: number }).pid ?? 0, "SIGKILL");
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
    await at.sdk.startWorkspace(id);
    expect((await at.sdk.execWorkspace(id, { command: "cat kept" })).stdout).toBe("kept\n");
    await at.sdk.deleteWorkspace(id);
    expect(await smolvm.machines()).toEqual([]);
  });

  it("of this home that belongs to no workspace is removed by the next daemon, another home's is not", async () => {
    const id = await create();
    const [machine] = await smolvm.machines();
    const run = promisify(execFile);
    const env = { ...process.env, ...smolvm.env };
    const home = machine?.labels["cloche.home"] ?? "";
    for (const [name, label] of [
      [`cloche-${home}-left`, home],
      ["labelled", home],
      ["theirs", "another"],
    ] as const)
      await run(
        "smolvm",
        [
          "machine",
          "create",
          "--name",
          name,
          "--label",
          `cloche.home=${label}`,
          "--label",
          "cloche.workspace=ws-gone-g1",
        ],
        { env },
      );
    await killDaemon(at);
    await at.sdk.deleteWorkspace(await create());
    expect((await smolvm.machines()).map(({ name }) => name).sort()).toEqual([machine?.name, "labelled", "theirs"]);
    for (const name of ["labelled", "theirs"]) await run("smolvm", ["machine", "delete", "-n", name, "-f"], { env });
    await at.sdk.deleteWorkspace(id);
  });

  it("gets no value of a variable or a secret by its command line, and no network", async () => {
    const id = await create({ secrets: [{ name: "TOKEN", value: "tok-not-in-argv-123" }] });
    await at.sdk.execWorkspace(id, {
      command: "true",
      env: { PLAIN: "plain-not-in-argv-456" },
      secret_env: { TOKEN: "T" },
    });
    await at.sdk.deleteWorkspace(id);
    const calls = smolvm.calls();
    expect(JSON.stringify(calls)).not.toContain("not-in-argv");
    const words = new Set(calls.flatMap((argv) => argv.slice(0, argv.indexOf("--") >>> 0)));
    for (const flag of ["-e", "--env", "--net", "-p", "--allow-host", "--allow-cidr", "-v", "--secret-env"])
      expect(words.has(flag), flag).toBe(false);
  });
});

it("a packed machine is an environment of its own, by the path of its file", async () => {
  const warm = at.path("packed.smolmachine");
  const copies = join(process.env["CLOCHE_CACHE"] ?? join(homedir(), ".cache/cloche"), "smolmachines");
  const [image = ""] = readdirSync(copies).filter((name) => !name.endsWith(".tmp"));
  await promisify(execFile)("tar", ["-cf", warm, "-C", join(copies, image), "."]);
  const id = await create({ environment: `smolmachine:${warm}` });
  expect((await at.sdk.execWorkspace(id, { command: "id -u; pwd" })).stdout).toBe("1000\n/workspace\n");
  const created = smolvm.calls().filter(([, verb]) => verb === "create");
  expect(created.at(-1)).toEqual(expect.arrayContaining(["--from", warm]));
  await at.sdk.deleteWorkspace(id);
  const refused = at.sdk.createWorkspace({ backend: "container", environment: `smolmachine:${warm}` });
  await expect(refused).rejects.toThrow(failing("NOT_SUPPORTED", "does not take packed machines"));
});

it("the socket's path is refused when it is too long for one, before a machine is made", async () => {
  const deep = new Installation("sd", { ...smolvm.env });
  try {
    const home = deep.path("x".repeat(90));
    const { Cloche } = await import("../../src/sdk/cloche.ts");
    const sdk = new Cloche({ home, env: deep.env });
    const refused = sdk.createWorkspace({ backend: "smolmachines", environment: "debian:12" });
    await expect(refused).rejects.toThrow(failing("SANDBOX_START_FAILED", "too long for a socket"));
    await sdk.stopDaemon();
    await sdk.close();
  } finally {
    await deep[Symbol.asyncDispose]();
  }
});
