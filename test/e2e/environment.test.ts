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
import { walkTree } from "../../src/environments/walk-tree.ts";
import { processesNaming } from "../helpers/installation.ts";

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
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", small]);
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
