import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createEnvironments } from "./environments.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import { type ProgramSource, layeredName } from "../contracts/environment.ts";
import type { ProgramPackage } from "../model/provider.ts";

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "cloche-programs-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const SCRIPT = "#!/bin/sh\necho hello from a package\n";
const OWN = currentIdMap().toHost(0, 0).uid;

/** An environment of two files. */
const base = (digest = "a".repeat(64), commands: readonly string[] = []) => ({
  name: "tiny:1",
  description: "Two files",
  packages: [],
  hostFolders: () => NO_HOST_FOLDERS,
  digest: () => Promise.resolve(digest),
  build: ({ rootfs }: { rootfs: string }) => {
    mkdirSync(join(rootfs, "usr/bin"), { recursive: true });
    writeFileSync(join(rootfs, "greeting"), "hi\n");
    for (const command of commands) writeFileSync(join(rootfs, "usr/bin", command), "");
    return Promise.resolve();
  },
});
const open = (definition = base()) =>
  createEnvironments({
    cachePath: join(root, "cache"),
    idMap: currentIdMap(),
    log: silentLog,
    definitions: [definition],
  });

function put(path: string, text: string, mode = 0o755): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const ofHost = (path: string, file: string, more: Partial<ProgramSource> = {}): ProgramSource => ({
  command: "tool",
  version: "1.0.0",
  isOfHost: true,
  files: { path, file },
  interpreter: null,
  ...more,
});

describe("a program of the host", () => {
  it("G-77 is in the environment with its own files, as they are on disk, and with nothing that lies beside them", async () => {
    const file = put("home/bin/tool", "the program");
    put("home/bin/private", "a secret of the user's");
    const environments = open();
    const name = await environments.addProgram("tiny:1", ofHost(file, "tool"), {});
    const { root: tree } = await environments.ensure(name, {});
    expect(readFileSync(join(tree, "greeting"), "utf8")).toBe("hi\n");
    expect(readFileSync(join(tree, "cloche/bin/tool"), "utf8")).toBe("the program");
    expect(readdirSync(join(tree, "cloche"), { recursive: true }).sort()).toEqual(
      ["bin", "bin/tool", "programs", "programs/tool", "programs/tool/tool"].sort(),
    );
    expect(statSync(join(tree, "cloche/programs/tool/tool")).ino).toBe(statSync(file).ino);
    expect(statSync(file).mode & 0o7777).toBe(0o755);
  });

  it("G-77 comes as a folder without links out of it, without another identity, and not as an inode that others may write", async () => {
    const folder = join(root, "home/lib");
    put("home/lib/bin/tool", "the program");
    put("home/lib/writable", "x", 0o666);
    put("home/lib/odd", "x", 0o4755);
    put("home/lib/closed", "x", 0o600);
    symlinkSync("bin/tool", join(folder, "inside"));
    for (const [link, to] of [
      ["out", "../secret"],
      ["far", "/etc/passwd"],
    ] as const)
      symlinkSync(to, join(folder, link));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const environments = open();
    const { root: tree } = await environments.ensure(
      await environments.addProgram("tiny:1", ofHost(folder, "bin/tool"), {}),
      {},
    );
    const at = join(tree, "cloche/programs/tool");
    expect(readdirSync(at).sort()).toEqual(["bin", "closed", "inside", "odd", "writable"]);
    expect(readlinkSync(join(at, "inside"))).toBe("bin/tool");
    const facts = (name: string) => {
      const { mode, uid, ino } = lstatSync(join(at, name));
      return { mode: mode & 0o7777, isRoots: uid === OWN, isOther: ino !== lstatSync(join(folder, name)).ino };
    };
    expect(facts("writable")).toEqual({ mode: 0o644, isRoots: true, isOther: true });
    expect(facts("odd")).toEqual({ mode: 0o755, isRoots: true, isOther: true });
    expect(facts("closed")).toEqual({ mode: 0o644, isRoots: true, isOther: true });
  });

  it("has an interpreter with it where it needs one", async () => {
    const script = put("home/tool.js", "the script");
    const runner = put("home/node", "#!/bin/sh\n", 0o755);
    const environments = open();
    const source = ofHost(script, "tool.js", {
      interpreter: { command: "node", files: { path: runner, file: "node" } },
    });
    const { root: tree } = await environments.ensure(await environments.addProgram("tiny:1", source, {}), {});
    expect(readFileSync(join(tree, "cloche/bin/tool"), "utf8")).toBe(
      '#!/bin/sh\nexec /cloche/bin/node /cloche/programs/tool/tool.js "$@"\n',
    );
    expect(readlinkSync(join(tree, "cloche/bin/node"))).toBe("../programs/node/node");
  });

  it("is another one when its file has changed; the one before stays until nobody needs it", async () => {
    const file = put("home/tool", "one");
    const environments = open();
    const first = await environments.addProgram("tiny:1", ofHost(file, "tool"), {});
    await environments.ensure(first, {});
    expect(await environments.addProgram("tiny:1", ofHost(file, "tool"), {})).toBe(first);
    rmSync(file);
    put("home/tool", "another");
    const second = await environments.addProgram("tiny:1", ofHost(file, "tool"), {});
    expect(second).not.toBe(first);
    const { root: tree } = await environments.ensure(first, {});
    expect(readFileSync(join(tree, "cloche/bin/tool"), "utf8")).toBe("one");
    const prune = async (inUse: string[], dryRun = false) =>
      (await environments.prune({ inUse: new Set(inUse), dryRun })).removed.map(({ name }) => name).sort();
    const program = (name: string) => `program ${layeredName(name)?.program ?? ""}`;
    // The second one is in no environment yet; what is built of the first has its files.
    expect(await prune([first, second, "tiny:1"])).toEqual([]);
    expect(await prune([first, "tiny:1"], true)).toEqual([program(second)]);
    expect(await prune([first, "tiny:1"])).toEqual([program(second)]);
    expect(await prune([])).toEqual([first, program(first), "tiny:1"].sort());
    await expect(environments.ensure(first, {})).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_FOUND" });
    expect(existsSync(file)).toBe(true);
  });
});

describe("a program of a package", () => {
  let registry: Server;
  let tarball: Buffer;
  let served: ProgramPackage;
  let answer: Buffer;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "cloche-package-"));
    mkdirSync(join(folder, "package/bin"), { recursive: true });
    const manifest = { name: "@scope/tool", version: "1.2.3", scripts: { install: "touch /tmp/cloche-script-ran" } };
    writeFileSync(join(folder, "package/package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package/bin/tool"), SCRIPT, { mode: 0o700 });
    symlinkSync("/etc/passwd", join(folder, "package/link"));
    tarball = execFileSync("tar", ["-cz", "-C", folder, "package"]);
    rmSync(folder, { recursive: true });
    const integrity = (bytes: Buffer) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    served = { name: "@scope/tool", version: "1.2.3", integrity: integrity(tarball), file: "bin/tool" };
    registry = createServer((request, response) => {
      const url = `http://${request.headers.host ?? ""}`;
      if (request.url?.endsWith(".tgz") === true) return void response.end(answer);
      const version = { ...manifest, dist: { tarball: `${url}/tool-1.2.3.tgz`, integrity: integrity(answer) } };
      const found = /^\/@scope(\/|%2f)tool$/i.test(request.url ?? "");
      response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
      response.end(
        JSON.stringify(
          found ? { name: manifest.name, "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } } : {},
        ),
      );
    });
    await new Promise<void>((done) => registry.listen(0, "127.0.0.1", done));
  });
  afterAll(async () => {
    registry.closeAllConnections();
    await new Promise((done) => registry.close(done));
  });
  beforeEach(() => {
    answer = tarball;
    vi.stubEnv("npm_config_registry", `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`);
    vi.stubEnv("npm_config_cache", join(root, "npm"));
    vi.stubEnv("npm_config_fetch_retries", "0");
  });
  afterEach(() => vi.unstubAllEnvs());

  const source = (wanted: Partial<ProgramPackage> = {}): ProgramSource => ({
    command: "tool",
    version: "1.2.3",
    isOfHost: false,
    files: { package: { ...served, ...wanted } },
    interpreter: null,
  });

  it("is installed once, for the sandbox's root, without a script or a link of it", async () => {
    const environments = open();
    const steps: string[] = [];
    const how = { progress: ({ step }: { step: string }) => steps.push(step) };
    const name = await environments.addProgram("tiny:1", source(), how);
    expect(name).toMatch(/^agent:tool-1\.2\.3-[0-9a-f]{12}\/tiny:1$/);
    const { root: tree, digest } = await environments.ensure(name, {});
    const program = join(tree, "cloche/programs/tool/bin/tool");
    expect([readFileSync(program, "utf8"), lstatSync(program).mode & 0o7777, lstatSync(program).uid]).toEqual([
      SCRIPT,
      0o755,
      OWN,
    ]);
    expect(readdirSync(join(tree, "cloche/programs/tool")).sort()).toEqual(["bin", "package.json"]);
    expect(existsSync("/tmp/cloche-script-ran")).toBe(false);
    expect(steps).toEqual(expect.arrayContaining(["downloading @scope/tool@1.2.3", "unpacking @scope/tool@1.2.3"]));
    steps.length = 0;
    expect(await environments.addProgram("tiny:1", source(), how)).toBe(name);
    expect(steps).toEqual([]);
    const changed = open(base("b".repeat(64)));
    expect((await changed.ensure(name, {})).digest).not.toBe(digest);
    expect((await changed.list()).map((one) => one.name)).toContain(name);
  });

  it("G-76 is not installed when it is another one than its provider names", async () => {
    // The same package, packed anew: whole, as the registry says, and still another one.
    answer = execFileSync("sh", ["-c", "gunzip | gzip -1"], { input: tarball });
    const environments = open();
    await expect(environments.addProgram("tiny:1", source(), {})).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: expect.stringContaining("not the one that its provider names") as string,
    });
    const left = readdirSync(join(root, "cache/programs"));
    expect(left).toEqual([]);
  });

  it("is told by its name when the registry has none, or its file is not there", async () => {
    await expect(open().addProgram("tiny:1", source({ version: "9.9.9" }), {})).rejects.toThrow(
      /^Cannot get @scope\/tool@9\.9\.9 from the npm registry: No matching version/,
    );
    await expect(open().addProgram("tiny:1", source({ file: "bin/other" }), {})).rejects.toThrow(
      'has no file "bin/other"',
    );
  });

  it("is left out where the environment brings a command of that name", async () => {
    expect(await open(base("c".repeat(64), ["tool"])).addProgram("tiny:1", source(), {})).toBe("tiny:1");
  });
});
