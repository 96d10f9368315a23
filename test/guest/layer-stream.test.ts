import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GuestFiles } from "../../src/guest/files.ts";
import { packLayer, unpackLayer } from "../../src/walls/layer-stream.ts";
import { idMap, LayeredWalls, type Sandbox } from "./layered-walls.ts";

let walls: LayeredWalls;
let sandbox: Sandbox;
beforeAll(async () => {
  walls = new LayeredWalls((own, baseline) => {
    mkdirSync(join(baseline, "dir"));
    for (const path of ["gone", "dir/a"]) writeFileSync(join(baseline, path), `${path}\n`);
    for (const path of ["dir", "gone", "dir/a"]) own(path);
  });
  sandbox = await walls.start([]);
  await sandbox.sh(`mkdir -m 700 closed; echo x > closed/x; chmod 0 closed/x; touch -d @1234567890 closed; mkfifo pipe
    ln -s /nowhere dangling; truncate -s 50M sparse; printf end >> sparse; rm gone; rm -r dir; mkdir dir; echo new > dir/new
    head -c 300000 /dev/urandom > large; chmod 755 large; : > empty`);
});
afterAll(async () => {
  await sandbox.wall.stop();
  await walls[Symbol.asyncDispose]();
});

const folder = (name: string) => join(walls.home, "streams", name);
const root = () => new GuestFiles(sandbox.client, { uid: 0, gid: 0 });

/** Everything that a layer is, by path. */
function describeTree(path: string, shown = "."): Record<string, unknown> {
  const entry = lstatSync(path);
  const { mode, uid, gid, mtimeMs } = entry;
  // What is removed has no time.
  if (entry.isCharacterDevice()) return { [shown]: { mode, rdev: entry.rdev } };
  const content = entry.isFile()
    ? readFileSync(path).toString("base64")
    : entry.isSymbolicLink()
      ? readlinkSync(path)
      : null;
  const names = entry.isDirectory() ? readdirSync(path).sort() : [];
  return Object.fromEntries([
    [shown, { mode, uid, gid, mtimeMs, content }],
    ...names.flatMap((name) => Object.entries(describeTree(join(path, name), `${shown}/${name}`))),
  ]);
}

async function collected(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function* pieces(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

describe("a layer as a stream", () => {
  it("is the same layer at its end, from the host's disk and from a running sandbox", async () => {
    const bytes = await walls.backend.copyLayer(sandbox.directory, folder("copy"), undefined);
    expect(await unpackLayer(packLayer(folder("copy"), idMap), folder("packed"), idMap)).toBe(bytes);
    expect(await unpackLayer(root().layerOut(), folder("sent"), idMap)).toBe(bytes);
    const whole = describeTree(folder("copy"));
    expect(Object.keys(whole)).toContain("./gone");
    expect(Object.keys(whole)).not.toContain("./pipe");
    expect(describeTree(folder("packed"))).toEqual(whole);
    expect(describeTree(folder("sent"))).toEqual(whole);
    expect(lstatSync(join(folder("sent"), "sparse")).blocks).toBeLessThan(1000);
  });

  it("works as a layer of the next sandbox", async () => {
    const next = await walls.start([folder("sent")]);
    expect(await next.sh("ls; ls dir; stat -c %a closed/x; tail -c 3 sparse")).toBe(
      "closed\ndangling\ndir\nempty\nlarge\nsparse\nnew\n0\nend",
    );
    await next.wall.stop();
  });

  it("is given to the sandbox's root only", async () => {
    await expect(collected(new GuestFiles(sandbox.client, { uid: 1000, gid: 1000 }).layerOut())).rejects.toMatchObject({
      code: "FILE_FAILED",
      details: { errno: 13 },
    });
  });
});

describe("a stream that is no layer", () => {
  const text = (value: string) => Buffer.concat([u32(value.length), Buffer.from(value)]);
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
  const meta = Buffer.concat([u32(0o755), u32(1000), u32(1000), Buffer.alloc(8), u32(0)]);
  const top = Buffer.concat([Buffer.from("clochel1D"), text(""), meta, u32(0)]);
  const end = Buffer.concat([Buffer.from("U."), Buffer.alloc(8)]);
  const link = (name: string, target: string) => Buffer.concat([Buffer.from("L"), text(name), meta, text(target)]);
  const file = (name: string) =>
    Buffer.concat([Buffer.from("F"), text(name), meta, u32(0), Buffer.from("Z"), Buffer.alloc(8)]);
  const unpack = (bytes: Buffer, name: string) => unpackLayer(pieces(bytes), folder(name), idMap);

  it("is taken when it is one", async () => {
    expect(await unpack(Buffer.concat([top, file("a"), link("b", "/etc/passwd"), end]), "fine")).toBe(0);
    expect(readdirSync(folder("fine"))).toEqual(["a", "b"]);
  });

  it.each([
    ["a name that goes up", Buffer.concat([top, file("../escape"), end])],
    ["a name that is the folder above", Buffer.concat([top, file(".."), end])],
    ["an absolute name", Buffer.concat([top, file("/tmp/escape"), end])],
    ["a file through a link of its own", Buffer.concat([top, link("a", ".."), file("a/escape"), end])],
    ["a file in the place of a link", Buffer.concat([top, link("a", "../escape"), file("a"), end])],
    [
      "a folder in the place of a link",
      Buffer.concat([top, link("a", ".."), Buffer.from("D"), text("a"), meta, u32(0), end]),
    ],
    ["a text that ends nowhere", Buffer.concat([top, Buffer.from("F"), u32(0xffff_ffff)])],
    ["more folders closed than opened", Buffer.concat([top, Buffer.from("UU"), end])],
    ["something after the end of the layer", Buffer.concat([top, Buffer.from("U"), file("a")])],
    ["a stream that breaks off", Buffer.concat([top, file("a")])],
    ["garbage", Buffer.from("Error: not a layer at all")],
    ["nothing", Buffer.alloc(0)],
  ])("is refused, and leaves nothing: %s", async (_what, bytes) => {
    await expect(unpack(bytes, "bad")).rejects.toMatchObject({ code: "INTERNAL" });
    expect(existsSync(folder("bad"))).toBe(false);
    expect(readdirSync(folder(".")).filter((name) => name.includes("bad") || name === "escape")).toEqual([]);
  });

  it("sets no attribute but the user's", async () => {
    const attribute = Buffer.concat([u32(1), text("security.capability"), text("x")]);
    const bytes = Buffer.concat([Buffer.from("clochel1D"), text(""), meta, attribute, end]);
    await expect(unpack(bytes, "bad")).rejects.toThrow("not the user's");
  });

  it("is told as it failed where it comes from", async () => {
    const failing = async function* () {
      yield await Promise.resolve(top);
      throw new Error("the machine is gone");
    };
    await expect(unpackLayer(failing(), folder("bad"), idMap)).rejects.toThrow("the machine is gone");
    expect(existsSync(folder("bad"))).toBe(false);
  });
});
