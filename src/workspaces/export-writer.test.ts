import fc from "fast-check";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeExport, type ExportItem } from "./export-writer.ts";

let base: string;
let output: string;

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-export-"));
  output = join(base, "out");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

interface Sketch {
  path: string | Buffer;
  type?: ExportItem["type"];
  mode?: number;
  size?: number;
  content?: string;
  target?: string;
}

async function* chunks(content: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  for (let at = 0; at < content.length; at += 3) yield Buffer.from(content.slice(at, at + 3), "latin1");
}

function item({
  path,
  type = "file",
  mode = 0o644,
  content = "",
  size = content.length,
  target = "",
}: Sketch): ExportItem {
  return {
    type,
    pathBytes: Buffer.from(path),
    mode,
    size,
    mtimeNs: 1_600_000_000_123_456_000n,
    linkTargetBytes: Buffer.from(target),
    content: type === "file" ? chunks(content) : undefined,
  };
}

async function* stream(...sketches: Sketch[]): AsyncGenerator<ExportItem> {
  for (const sketch of sketches) {
    await Promise.resolve();
    yield item(sketch);
  }
}

/** Links whose real place is not below the folder, as the kernel finds it. */
function linksOutOf(top: string): string[] {
  const names = fs.readdirSync(top, { recursive: true, withFileTypes: true });
  return names
    .filter((one) => one.isSymbolicLink())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => {
      try {
        return !`${fs.realpathSync.native(path)}/`.startsWith(`${top}/`);
      } catch {
        return false; // it leads nowhere
      }
    });
}

const link = (path: string, target: string): Sketch => ({ path, type: "symlink", target });
const sub = (path: string): Sketch => ({ path, type: "directory" });

const folder: Sketch = { path: "", type: "directory", mode: 0o755 };

describe("writeExport()", () => {
  it("writes a folder with what is in it", async () => {
    const odd = Buffer.from([0x61, 0xff]);
    const written = await writeExport(
      stream(
        folder,
        { path: "d", type: "directory", mode: 0o1555 },
        { path: "d/run", mode: 0o6755, content: "#!/bin/sh" },
        { path: odd, content: "bytes" },
        { path: "link", type: "symlink", target: "d/run" },
        { path: "empty" },
      ),
      output,
    );
    expect(written).toEqual({ artifactType: "directory", entries: 6, bytes: 14, skippedLinks: 0 });
    expect(fs.readdirSync(base)).toEqual(["out"]);
    expect(fs.readFileSync(join(output, "d", "run"), "utf8")).toBe("#!/bin/sh");
    expect(fs.statSync(join(output, "d", "run")).mode & 0o7777).toBe(0o755);
    expect(fs.statSync(join(output, "d", "run"), { bigint: true }).mtimeNs).toBe(1_600_000_000_123_456_000n);
    expect(fs.statSync(join(output, "d")).mode & 0o7777).toBe(0o755);
    expect(fs.statSync(output).mode & 0o7777).toBe(0o755);
    expect(fs.readlinkSync(join(output, "link"))).toBe("d/run");
    expect(fs.readFileSync(Buffer.concat([Buffer.from(`${output}/`), odd]), "utf8")).toBe("bytes");
  });

  it("writes a single file or link", async () => {
    await writeExport(stream({ path: "", content: "hello", mode: 0o600 }), output);
    expect(fs.readFileSync(output, "utf8")).toBe("hello");
    expect(fs.statSync(output)).toMatchObject({ nlink: 1 });
    await writeExport(stream({ path: "", type: "symlink", target: "../gone" }), join(base, "link"), { links: "keep" });
    expect(fs.readlinkSync(join(base, "link"))).toBe("../gone");
    expect(fs.readdirSync(base)).toEqual(["link", "out"]);
  });

  it("makes holes of zeros, and every byte is as it came (G-15)", async () => {
    const size = 8 * 1024 * 1024;
    const bytes = Buffer.alloc(size);
    bytes.write("begin", 0);
    bytes.write("middle", 5_000_000);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      for (let at = 0; at < size; at += 60_000) yield bytes.subarray(at, at + 60_000);
    }
    async function* one(): AsyncGenerator<ExportItem> {
      await Promise.resolve();
      yield { ...item({ path: "", size }), content: pieces() };
    }
    await writeExport(one(), output);
    expect(fs.readFileSync(output).equals(bytes)).toBe(true);
    expect(fs.statSync(output).blocks * 512).toBeLessThan(size / 8);
  });

  it.each([
    ["a file", () => fs.writeFileSync(output, "kept")],
    ["an empty folder", () => fs.mkdirSync(output)],
    ["a link that leads nowhere", () => fs.symlinkSync("gone", output)],
  ])("refuses an output where %s is", async (_, prepare) => {
    prepare();
    for (const sketch of [folder, { path: "", content: "x" }]) {
      await expect(writeExport(stream(sketch), output)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    }
    expect(fs.readdirSync(base)).toEqual(["out"]);
    expect(fs.existsSync(join(base, "gone"))).toBe(false);
  });

  it.each([
    ["a file", () => fs.writeFileSync(output, "kept")],
    ["an empty folder", () => fs.mkdirSync(output)],
    ["a link that leads nowhere", () => fs.symlinkSync("gone", output)],
  ])("does not replace %s that comes to be there meanwhile", async (_, prepare) => {
    async function* late(first: Sketch): AsyncGenerator<ExportItem> {
      yield* stream(first);
      prepare();
    }
    for (const sketch of [folder, { path: "", content: "x" }]) {
      await expect(writeExport(late(sketch), output)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
      expect(fs.readdirSync(base)).toEqual(["out"]);
      fs.rmSync(output, { recursive: true });
    }
  });

  it("refuses an output in a missing folder or below a file", async () => {
    fs.writeFileSync(join(base, "file"), "");
    for (const path of [join(base, "missing", "out"), join(base, "file", "out"), "/"]) {
      await expect(writeExport(stream(folder), path)).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    }
  });

  it.each<[string, Sketch[]]>([
    ["nothing at all", []],
    ["a member before the exported thing", [{ path: "a" }]],
    ["..", [folder, { path: "../x", content: "x" }]],
    ["an absolute path", [folder, { path: "/tmp/x", content: "x" }]],
    ["a member of a folder that was not sent", [folder, { path: "d/x" }]],
    ["a member below a link", [folder, { path: "l", type: "symlink", target: "d" }, { path: "l/x" }]],
    ["a member below a file", [{ path: "" }, { path: "x" }]],
    ["a file in a link's place", [folder, { path: "l", type: "symlink", target: "x" }, { path: "l" }]],
    ["the exported thing twice", [folder, folder]],
    ["NUL in a path", [folder, { path: "a\0b" }]],
    ["an empty part", [folder, { path: "a//b" }]],
    ["fewer bytes than announced", [folder, { path: "a", content: "x", size: 2 }]],
    ["more bytes than announced", [folder, { path: "a", content: "xyz", size: 2 }]],
    ["an empty link", [folder, { path: "l", type: "symlink", target: "" }]],
    ["an unknown type", [folder, { path: "o", type: "other" }]],
  ])("refuses %s and leaves nothing", async (_, sketches) => {
    await expect(writeExport(stream(...sketches), output)).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
    expect(fs.readdirSync(base)).toEqual([]);
  });

  it("leaves nothing when it is too large, when it is cancelled, and when the sandbox fails", async () => {
    const large = stream(folder, { path: "a", content: "x".repeat(20) });
    await expect(writeExport(large, output, { maxBytes: 10 })).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    const controller = new AbortController();
    async function* cancelling(): AsyncGenerator<ExportItem> {
      yield* stream(folder);
      controller.abort();
      yield item({ path: "a" });
    }
    const cancelled = writeExport(cancelling(), output, { signal: controller.signal });
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    async function* failing(): AsyncGenerator<ExportItem> {
      yield* stream(folder);
      throw new Error("the sandbox is gone");
    }
    await expect(writeExport(failing(), output)).rejects.toThrow("the sandbox is gone");
    expect(fs.readdirSync(base)).toEqual([]);
  });

  it("remembers no more than 64 MiB of paths, whatever comes (G-10)", async () => {
    const parts = Array.from({ length: 15 }, () => "d".repeat(250));
    let sent = 0;
    async function* endless(): AsyncGenerator<ExportItem> {
      yield* stream(folder);
      for (let depth = 1; depth <= parts.length; depth++)
        yield item({ path: parts.slice(0, depth).join("/"), type: "directory" });
      for (; sent < 20_000; sent++) yield item({ path: [...parts, sent].join("/"), type: "symlink", target: "x" });
    }
    await expect(writeExport(endless(), output)).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
    expect(sent * parts.join("/").length).toBeLessThan(64 * 1024 * 1024);
    expect(fs.readdirSync(base)).toEqual([]);
  }, 30_000);

  it("touches nothing outside, whatever comes (G-12)", async () => {
    const canary = join(base, "canary");
    fs.mkdirSync(canary);
    fs.writeFileSync(join(canary, "file"), "untouched");
    const before = fs.lstatSync(canary, { bigint: true }).ctimeNs;
    const part = fc.constantFrom("a", "b", "..", ".", "", "canary", "file", "a\0", "out", "export");
    const path = fc.oneof(
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join("/")),
      fc.constant(`${canary}/new`),
    );
    const target = fc.constantFrom("../canary", "../../canary", canary, "a", ".", "..", "/", "");
    const sketch = fc.record({
      path,
      type: fc.constantFrom("file", "directory", "symlink", "other"),
      mode: fc.nat(0o7777),
      content: fc.constantFrom("", "x", "hostile"),
      target,
    });
    const policy = fc.constantFrom("refuse", "skip", "keep" as const);
    await fc.assert(
      fc.asyncProperty(fc.array(sketch, { maxLength: 8 }), fc.boolean(), policy, async (sketches, wellBegun, links) => {
        const all: Sketch[] = wellBegun ? [folder, ...sketches] : sketches;
        const written = await writeExport(stream(...all), output, { links }).catch(() => undefined);
        if (links !== "keep" && written?.artifactType === "directory") expect(linksOutOf(output)).toEqual([]);
        const names = fs.readdirSync(base).filter((name) => name !== "out");
        fs.rmSync(output, { recursive: true, force: true });
        expect(names).toEqual(["canary"]);
        expect(fs.readdirSync(canary)).toEqual(["file"]);
        expect(fs.readFileSync(join(canary, "file"), "utf8")).toBe("untouched");
        expect(fs.lstatSync(canary, { bigint: true }).ctimeNs).toBe(before);
      }),
      { numRuns: 300 },
    );
  });
});

describe("G-12 links of an export", () => {
  const stays: Record<string, Sketch[]> = {
    "to a file beside it": [folder, { path: "a" }, link("l", "a")],
    "to something that comes later": [folder, link("l", "z/f"), sub("z"), { path: "z/f" }],
    "up and down again": [folder, sub("d"), sub("e"), link("d/l", "../e")],
    "to the exported folder itself": [folder, sub("d"), link("d/l", ".."), link("here", ".")],
    "by another link": [folder, sub("d"), sub("d/e"), link("short", "d/e"), link("l", "short/../e/./")],
    "to nothing": [folder, link("l", "gone/x"), link("m", "gone/../l")],
    "in a loop": [folder, link("l", "m"), link("m", "l"), link("self", "self"), link("n", "self/../..")],
    "through a file": [folder, { path: "a" }, link("l", "a/../a")],
  };
  const leaves: Record<string, Sketch[]> = {
    "an absolute one": [folder, link("l", "/etc/passwd")],
    "an absolute one to the workspace": [folder, link("l", "/workspace/x")],
    "one to the host's root": [folder, link("l", "/")],
    "one above the top": [folder, link("l", "..")],
    "one that goes up too far": [folder, sub("d"), link("d/l", "../../x")],
    "one that goes up, down and up": [folder, sub("d"), link("d/l", ".././d/../..//x")],
    "one by a link that is harmless alone": [folder, sub("d"), sub("d/e"), link("s", "d/e"), link("l", "d/e/../../..")],
    "two that lead out together": [
      folder,
      sub("d"),
      sub("d/e"),
      link("up", "d/e/.."),
      link("l", "up/../.."),
      link("a", "up"),
    ],
    "one whose way up is shorter than its text": [
      folder,
      sub("d"),
      sub("d/e"),
      link("d/e/top", "../.."),
      link("l", "d/e/top/.."),
    ],
    "one through a folder that is not there yet": [folder, link("l", "gone/../../x")],
    "one through a link that leads nowhere": [folder, link("g", "gone"), link("l", "g/../../x")],
    "one that comes before what it passes": [folder, link("a", "z/../x"), sub("d"), link("z", "d/../..")],
    "the exported thing itself": [link("", "beside")],
  };

  it.each(Object.entries(stays))("take one that stays: %s", async (_, sketches) => {
    for (const links of [undefined, "refuse", "skip", "keep"] as const) {
      const { entries, skippedLinks } = await writeExport(stream(...sketches), output, { links });
      expect({ entries, skippedLinks }).toEqual({ entries: sketches.length, skippedLinks: 0 });
      expect(linksOutOf(output)).toEqual([]);
      fs.rmSync(output, { recursive: true });
    }
  });

  it.each(Object.entries(leaves))("stop at %s, and nothing is left", async (_, sketches) => {
    for (const links of [undefined, "refuse"] as const) {
      await expect(writeExport(stream(...sketches), output, { links })).rejects.toMatchObject({
        code: "PATH_OUTSIDE_WORKSPACE",
        message: expect.stringContaining("leads out of what is exported") as string,
        hint: expect.stringContaining("--links") as string,
      });
      expect(fs.readdirSync(base)).toEqual([]);
    }
  });

  it.each(Object.entries(leaves).slice(0, -1))("leave out %s when asked to, and keep the rest", async (_, sketches) => {
    const { entries, skippedLinks } = await writeExport(stream(...sketches), output, { links: "skip" });
    expect(skippedLinks).toBeGreaterThan(0);
    expect(entries).toBe(sketches.length - skippedLinks);
    expect(linksOutOf(output)).toEqual([]);
  });

  it("keep them all as they are when asked to", async () => {
    const sketches = [folder, link("l", "/etc/passwd"), link("up", "..")];
    expect(await writeExport(stream(...sketches), output, { links: "keep" })).toMatchObject({ skippedLinks: 0 });
    expect(["l", "up"].map((name) => fs.readlinkSync(join(output, name)))).toEqual(["/etc/passwd", ".."]);
  });

  it("name what leads out and where", async () => {
    await expect(writeExport(stream(folder, sub("d"), link("d/l", "../../x")), output)).rejects.toMatchObject({
      message: 'Cannot export: "d/l" is a link to "../../x", which leads out of what is exported',
      details: { path: "d/l", target: "../../x" },
    });
  });

  it("are followed however long the chain is, and in bounded work", async () => {
    const chain = Array.from({ length: 5000 }, (_, at) => link(`l${at}`, at === 0 ? ".." : `l${at - 1}`));
    const { skippedLinks } = await writeExport(stream(folder, ...chain.reverse()), output, { links: "skip" });
    expect(skippedLinks).toBe(5000);
    fs.rmSync(output, { recursive: true });
    const long = Array.from({ length: 2200 }, (_, at) => link(`m${at}`, "./".repeat(2000)));
    await expect(writeExport(stream(folder, ...long), output)).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
    expect(fs.readdirSync(base)).toEqual([]);
  }, 60_000);
});

describe("an export that may overwrite", () => {
  const overwrite = { overwrite: true };
  const FILE = { path: "", content: "new" };
  const FOLDER = [
    { path: "", type: "directory" },
    { path: "a", content: "new" },
  ] as const;

  it("takes the place of a file, or of an empty folder, and of nothing otherwise", async () => {
    fs.writeFileSync(output, "old");
    await writeExport(stream(FILE), output, overwrite);
    expect(fs.readFileSync(output, "utf8")).toBe("new");
    await expect(writeExport(stream(...FOLDER), output, overwrite)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    fs.rmSync(output);
    await writeExport(stream(FILE), output, overwrite);
    fs.rmSync(output);
    fs.mkdirSync(output);
    await expect(writeExport(stream(FILE), output, overwrite)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    await writeExport(stream(...FOLDER), output, overwrite);
    expect(fs.readdirSync(output)).toEqual(["a"]);
    await expect(writeExport(stream(...FOLDER), output, overwrite)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    expect(fs.readdirSync(base)).toEqual(["out"]);
  });

  it("G-12: is never written through a link, and leaves what is there when it fails", async () => {
    fs.writeFileSync(join(base, "target"), "old");
    fs.symlinkSync("target", output);
    await expect(writeExport(stream(FILE), output, overwrite)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    expect([fs.readlinkSync(output), fs.readFileSync(join(base, "target"), "utf8")]).toEqual(["target", "old"]);
    fs.rmSync(output);
    fs.writeFileSync(output, "old");
    await expect(writeExport(stream({ ...FILE, size: 9 }), output, overwrite)).rejects.toMatchObject({
      code: "GUEST_PROTOCOL",
    });
    expect(fs.readFileSync(output, "utf8")).toBe("old");
    async function* lateLink() {
      yield item(FILE);
      fs.rmSync(output);
      fs.symlinkSync("target", output);
      await Promise.resolve();
    }
    await expect(writeExport(lateLink(), output, overwrite)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    expect(fs.readFileSync(join(base, "target"), "utf8")).toBe("old");
  });
});
