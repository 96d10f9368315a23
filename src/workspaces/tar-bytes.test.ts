import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { createTreeItem } from "../guest/files.ts";
import { tarBytes } from "./tar-bytes.ts";

async function* content(text: string) {
  yield await Promise.resolve(Buffer.from(text));
}

async function* only(size: number, text: string) {
  yield await Promise.resolve(createTreeItem({ path: "f", type: "file", mode: 0o644, size, content: content(text) }));
}

async function write(size: number, text: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of tarBytes(only(size, text))) parts.push(part);
  return Buffer.concat(parts);
}

describe("tarBytes()", () => {
  it("fills up blocks", async () => {
    expect((await write(3, "abc")).length).toBe(512 + 512 + 1024);
    expect((await write(512, "x".repeat(512))).length).toBe(512 + 512 + 1024);
    expect((await write(0, "")).length).toBe(512 + 1024);
  });

  it("keeps names and targets that are not UTF-8, short and long", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cloche-tar-"));
    try {
      const [short, long] = [Buffer.from([0xff]), Buffer.from([0xfe, ...Buffer.alloc(180, "n")])];
      const below = (name: Buffer) => Buffer.concat([long, Buffer.from("/"), name]);
      async function* items() {
        yield await Promise.resolve(createTreeItem({ path: long, type: "directory", mode: 0o755 }));
        for (const path of [short, below(short), below(long)])
          yield createTreeItem({ path, type: "file", mode: 0o644, size: 3, content: content("abc") });
        yield createTreeItem({ path: "link", type: "symlink", mode: 0o777, linkTarget: short });
      }
      await pipeline(tarBytes(items()), createWriteStream(join(folder, "t.tar")));
      execFileSync("tar", ["-xf", "t.tar"], { cwd: folder });
      const at = (name: Buffer) => Buffer.concat([Buffer.from(`${folder}/workspace/`), name]);
      for (const path of [short, below(short), below(long)]) expect(readFileSync(at(path), "utf8")).toBe("abc");
      expect(readlinkSync(at(Buffer.from("link")), "buffer")).toEqual(short);
      expect(readdirSync(join(folder, "workspace"))).toHaveLength(3);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    [2, "abc"],
    [4, "abc"],
  ])("G-10: refuses a file of which %i bytes were announced and %j came", async (size, text) => {
    await expect(write(size, text)).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
  });
});
