import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { QUIET_GIT, hostGit, refsOf } from "../../../test/helpers/git-server.ts";

describe("a mirror that a disk or another hand has broken is not served (G-85)", () => {
  let bed: GitDoorBed;

  beforeAll(async () => {
    bed = await GitDoorBed.start();
    await bed.clone();
  });

  afterAll(async () => {
    await bed[Symbol.asyncDispose]();
  });

  const packs = () => join(bed.mirror("app"), "objects", "pack");
  const loose = () => readdirSync(join(bed.mirror("app"), "objects")).filter((name) => name.length === 2);
  const breaks: Record<string, () => void> = {
    "objects that are gone": () => {
      for (const name of loose()) rmSync(join(bed.mirror("app"), "objects", name), { recursive: true });
      for (const name of readdirSync(packs())) rmSync(join(packs(), name));
    },
    "a pack that was cut": () => {
      execFileSync("git", ["-C", bed.mirror("app"), "repack", "-adq"], { env: { ...process.env, ...QUIET_GIT } });
      for (const name of readdirSync(packs())) if (name.endsWith(".pack")) truncateSync(join(packs(), name), 40);
    },
    "a pack that was changed": () => {
      for (const name of readdirSync(packs())) if (name.endsWith(".pack")) appendFileSync(join(packs(), name), "x");
    },
    "a ref to nothing": () => writeFileSync(join(bed.mirror("app"), "refs", "heads", "main"), `${"3".repeat(40)}\n`),
    "a ref of somebody's own": () => {
      const path = bed.mirror("app");
      writeFileSync(join(path, "refs", "heads", "planted"), `${refsOf(path)["refs/heads/main"] ?? ""}\n`);
    },
    "a ref that is neither a branch nor a tag": () => {
      const path = bed.mirror("app");
      mkdirSync(join(path, "refs", "notes"), { recursive: true });
      writeFileSync(join(path, "refs", "notes", "planted"), `${refsOf(path)["refs/heads/main"] ?? ""}\n`);
    },
    "a configuration that git does not read": () => writeFileSync(join(bed.mirror("app"), "config"), "[core\n"),
    "no head": () => rmSync(join(bed.mirror("app"), "HEAD")),
  };
  it("a pack that was changed while no gate was there, whatever its time says, and what a killed gate left in quarantine", async () => {
    const folder = await bed.clone();
    await bed.commit(folder, { large: randomBytes(300_000) });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/large");
    await bed.clone();
    for (const name of readdirSync(packs()).filter((one) => one.endsWith(".pack"))) {
      const path = join(packs(), name);
      const { size, atime, mtime } = statSync(path);
      if (size < 300_000) continue;
      chmodSync(path, 0o600);
      const file = openSync(path, "r+");
      writeSync(file, Buffer.alloc(100, 1), 0, 100, 200_000);
      closeSync(file);
      utimesSync(path, atime, mtime);
    }
    mkdirSync(join(bed.folder, "gate", "quarantine", "push-left", "objects"), { recursive: true });
    bed.newGate();
    bed.obey({});
    const again = await bed.clone();
    hostGit(again, ["fsck", "--strict"]);
    expect(bed.logged.join("")).toContain("has a pack that is broken");
    await expect.poll(() => readdirSync(join(bed.folder, "gate", "quarantine"))).toEqual([]);
  });

  it("a file that only git reads when it serves", async () => {
    writeFileSync(join(bed.mirror("app"), "shallow"), "no id\n");
    await bed.clone("app", "-c", "protocol.version=0");
  });

  for (const [name, harm] of Object.entries(breaks))
    it(name, async () => {
      harm();
      const folder = await bed.clone();
      expect(await bed.must(folder, "for-each-ref", "--format=%(objectname)", "refs/remotes/origin/main")).toBe(
        bed.refs()["refs/heads/main"],
      );
      expect(await bed.must(folder, "ls-remote", "origin", "*planted")).toBe("");
      hostGit(folder, ["fsck", "--strict"]);
    });
});
