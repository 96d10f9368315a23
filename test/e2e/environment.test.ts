import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import { placesFrom } from "../../src/base/paths.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { createDebianDefinition } from "../../src/environments/debian.ts";
import type { EnvironmentDefinition } from "../../src/environments/definition.ts";
import { createEnvironments } from "../../src/environments/environments.ts";
import { walkTree } from "../../src/base/walk-tree.ts";
import { processesNaming } from "../helpers/installation.ts";
import { useSandbox } from "../helpers/sandbox.ts";

const idMap = currentIdMap();
const log = silentLog;
const debian = (sources?: string): EnvironmentDefinition =>
  createDebianDefinition({ name: "d", description: "d", packages: [], env: process.env, ...(sources && { sources }) });

describe("environment debian:12, from the shared cache", () => {
  let root: string;
  const environments = createEnvironments({ cachePath: placesFrom(process.env).cache, idMap, log });

  beforeAll(async () => {
    ({ root } = await environments.ensure("debian:12", {}));
  }, 600_000);

  it("is warm then, and is not built again", async () => {
    expect(await environments.inspect("debian:12")).toMatchObject({ state: "warm", host_paths: [] });
    const steps: string[] = [];
    const again = await environments.ensure("debian:12", { progress: ({ step }) => steps.push(step) });
    expect(again.root).toBe(root);
    expect(steps).toEqual([]);
  });

  it("has the tools, the mount points and the user agent", () => {
    for (const path of [
      "usr/bin/git",
      "usr/bin/perl",
      "usr/bin/ps",
      "usr/bin/python3",
      "usr/lib/python3.11/http/server.py", // all of Python, as it is told to have
      "etc/ssl/certs/ca-certificates.crt",
    ]) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
    for (const path of ["workspace", "proc", "dev", "tmp", "run", "home/agent"]) {
      expect(lstatSync(join(root, path)).isDirectory(), path).toBe(true);
    }
    expect(readFileSync(join(root, "etc/passwd"), "utf8")).toContain("\nagent:x:1000:1000:");
    expect(readlinkSync(join(root, "bin"))).toBe("usr/bin");
  });

  it("G-01, G-06: has no setuid, no device, no owner of the host and nothing of the host's package sources", async () => {
    let count = 0;
    for await (const { path, stats } of walkTree(root)) {
      count += 1;
      expect(stats.isFile() || stats.isDirectory() || stats.isSymbolicLink(), path).toBe(true);
      if (!stats.isSymbolicLink()) expect(stats.mode & 0o6000, path).toBe(0);
      if (idMap.kind === "shifted")
        expect(Math.min(stats.uid, stats.gid), path).toBeGreaterThanOrEqual(idMap.toHost(0, 0).uid);
    }
    expect(count).toBeGreaterThan(5000);
    for (const path of ["etc/apt/sources.list", "etc/apt/sources.list.d", "etc/machine-id", "var/lib/apt/lists"]) {
      expect(existsSync(join(root, path)), path).toBe(false);
    }
  });
});

describe("environment debian:12-build, from the shared cache", () => {
  const { at, sh } = useBuildWorkspace();

  it("promises what it is told to have, on top of debian:12", async () => {
    const [plain, build] = await Promise.all([
      at().sdk.inspectEnvironment("debian:12"),
      at().sdk.inspectEnvironment("debian:12-build"),
    ]);
    expect(build).toMatchObject({ state: "warm", host_paths: [] });
    expect(build.packages).toEqual(expect.arrayContaining(plain.packages));
    expect(build.packages).toEqual(expect.arrayContaining(["build-essential", "pkg-config", "python3-venv"]));
  });

  it("compiles C and C++ with make, in the sandbox and as its user", async () => {
    const script = String.raw`
      printf '#include <stdio.h>\nint main(void) { puts("made by C"); }\n' >one.c
      printf '#include <iostream>\nint main() { std::cout << "made by C++\\n"; }\n' >two.cc
      printf 'all: one two\n' >Makefile
      make -s && ./one && ./two && file -b one | cut -d, -f1 && pkg-config --version >/dev/null`;
    expect(await sh(script)).toMatchObject({
      stderr: "",
      stdout: "made by C\nmade by C++\nELF 64-bit LSB pie executable\n",
    });
  });

  it("has Python with its virtual environments, git and the archivers", async () => {
    const script = `
      python3 -m venv .venv && .venv/bin/pip --version | cut -d' ' -f1
      .venv/bin/python -c 'import ssl, sqlite3, lzma; print("whole")'
      git init -q . && git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m x && git rev-list --count HEAD
      echo x >f && zip -q f.zip f && unzip -p f.zip && tar cJf f.txz f && tar tf f.txz`;
    expect(await sh(script)).toMatchObject({ stderr: "", stdout: "pip\nwhole\n1\nx\nf\n" });
  });
});

/** A workspace in debian:12-build; the first one on a machine waits for the build. */
function useBuildWorkspace() {
  const box = useSandbox("deb");
  let id: string;
  beforeAll(async () => {
    ({ workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "debian:12-build" }));
  }, 600_000);
  return { at: () => box.at, sh: (command: string) => box.at.sdk.execWorkspace(id, { command }) };
}

describe("a build of Debian that does not come to its end", () => {
  let cachePath: string;
  beforeAll(() => (cachePath = mkdtempSync(join(tmpdir(), "cloche-build-"))));
  afterAll(() => removeTree(cachePath));
  const left = () => readdirSync(join(cachePath, "environments")).filter((name) => !name.startsWith(".lock-"));

  it("says what the package mirror said when it cannot be reached", async () => {
    const environments = createEnvironments({
      cachePath,
      idMap,
      log,
      definitions: [debian("deb http://127.0.0.1:1/ bookworm main")],
    });
    await expect(environments.ensure("d", {})).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: expect.stringContaining("Could not connect to 127.0.0.1:1") as string,
    });
    expect(left()).toEqual([]);
  });

  it("leaves no process, no mount and no file when it is cancelled half way", async () => {
    const environments = createEnvironments({ cachePath, idMap, log, definitions: [debian()] });
    const controller = new AbortController();
    const build = environments.ensure("d", {
      signal: controller.signal,
      progress: ({ step }) => step === "unpacking essential packages" && controller.abort(),
    });
    await expect(build).rejects.toMatchObject({ code: "CANCELLED" });
    expect(left()).toEqual([]);
    expect(processesNaming(cachePath)).toEqual([]);
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(cachePath);
  });

  it.skipIf(idMap.kind !== "shifted")(
    "is DISK_FULL on a disk that is too small (mounting one needs root)",
    async () => {
      const small = mkdtempSync(join(tmpdir(), "cloche-small-"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", small]);
      try {
        const environments = createEnvironments({ cachePath: small, idMap, log, definitions: [debian()] });
        await expect(environments.ensure("d", {})).rejects.toMatchObject({ code: "DISK_FULL" });
      } finally {
        execFileSync("umount", [small]);
      }
      await removeTree(small);
    },
  );
});
