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

  it.each([
    [2, "abc"],
    [4, "abc"],
  ])("G-10: refuses a file of which %i bytes were announced and %j came", async (size, text) => {
    await expect(write(size, text)).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
  });
});
