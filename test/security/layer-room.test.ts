import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../../src/base/id-map.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { copyLayer } from "../../src/walls/copy-layer.ts";
import { unpackLayer } from "../../src/walls/layer-stream.ts";

const MIB = 1024 * 1024;
const DISK_MIB = 64;
const NAMES = 20_000;
/** Of a disk of this size a twentieth stays free: what is to be written would fit, and leave less than that. */
const LEFT = 1 / 40;

const allBut = (part: number): number => Math.floor(DISK_MIB * (1 - part)) * MIB;
const idMap = currentIdMap();
const u32 = (value: number): Buffer => Buffer.from(new Uint32Array([value]).buffer);
const u64 = (value: number): Buffer => Buffer.from(new BigUint64Array([BigInt(value)]).buffer);
const text = (value: string): Buffer => Buffer.concat([u32(value.length), Buffer.from(value)]);
const meta = Buffer.concat([u32(0o644), u32(0), u32(0), u64(0), u32(0)]);
const value = Buffer.alloc(65_536, "x");
const file = (name: string): Buffer => Buffer.concat([Buffer.from("F"), text(name), meta, u32(0)]);

/** A layer as a machine sends it, whose guest program a guest has replaced by its own: of a file, of names without content, or of attributes. */
async function* lies({ bytes = 0, names = 0, attributes = 0 }): AsyncGenerator<Buffer> {
  const piece = Buffer.concat([Buffer.from("B"), u32(value.length), value]);
  yield Buffer.concat([Buffer.from("clochel1D"), text(""), meta, u32(attributes)]);
  for (let at = 0; at < attributes; at++) yield Buffer.concat([text(`user.${at}`), u32(value.length), value]);
  yield file("large");
  let told = 0;
  for (; told + value.length <= bytes; told += value.length) yield await Promise.resolve(piece);
  yield Buffer.concat([Buffer.from("Z"), u64(told)]);
  for (let at = 0; at < names; at++) yield Buffer.concat([file(`name ${at}`), Buffer.from("Z"), u64(0)]);
  yield Buffer.concat([Buffer.from("U."), u64(told)]);
}

describe("G-15 a layer does not take the last of the host's disk", () => {
  let folder: string;
  let disk: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cl-lr-"));
    disk = join(folder, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,nr_inodes=${NAMES},mode=755`, "tmpfs", disk]);
  });
  afterEach(async () => {
    execFileSync("umount", [disk]);
    await removeTree(folder);
  });

  const refused = expect.objectContaining({
    code: "DISK_FULL",
    message: expect.stringContaining("too little of the disk would be left free") as string,
  }) as Error;

  // A tmpfs keeps attributes where it keeps names, of which each is a KiB.
  it.each([
    ["bytes", { bytes: allBut(LEFT) }],
    ["names", { names: NAMES * (1 - LEFT) }],
    ["attributes", { attributes: Math.floor((NAMES * 1024 * (1 - LEFT / 4)) / (value.length + 64)) }],
  ])("what a machine sends: not its %s", async (_what, lie) => {
    await expect(unpackLayer(lies(lie), join(disk, "layer"), idMap)).rejects.toEqual(refused);
    expect(readdirSync(disk)).toEqual([]);
  });

  it("what a machine sends, if that leaves enough", async () => {
    const bytes = allBut(0.1);
    expect(await unpackLayer(lies({ bytes, names: 100, attributes: 3 }), join(disk, "layer"), idMap)).toBe(bytes);
    expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeGreaterThan((DISK_MIB / 20) * MIB);
  });

  it("what a sandbox has on the host: neither a large file nor many small ones", async () => {
    const { uid, gid } = idMap.toHost(0, 0);
    const layer = (name: string, fill: (at: string) => void): string => {
      const path = join(folder, name);
      mkdirSync(path);
      fill(path);
      for (const one of ["", ...readdirSync(path)]) chownSync(join(path, one), uid, gid);
      return path;
    };
    const large = layer("large", (at) => writeFileSync(join(at, "file"), Buffer.alloc(allBut(LEFT), "x")));
    const small = layer("small", (at) => {
      for (let count = 0; count < NAMES * (1 - LEFT); count++) writeFileSync(join(at, `name ${count}`), "");
    });
    for (const source of [large, small]) {
      await expect(copyLayer(source, join(disk, "layer"), idMap, undefined)).rejects.toEqual(refused);
      expect(readdirSync(disk)).toEqual([]);
    }
  });
});
