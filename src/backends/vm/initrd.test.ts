import { expect, it } from "vitest";
import { packInitrd } from "./initrd.ts";

/** As the kernel reads it: header, name, content, each padded to four bytes. */
function* members(archive: Buffer): Generator<{ name: string; mode: number; content: string }> {
  for (let at = 0; at < archive.length;) {
    const field = (index: number) => parseInt(archive.toString("latin1", at + 6 + index * 8, at + 14 + index * 8), 16);
    expect(archive.toString("latin1", at, at + 6)).toBe("070701");
    const [mode, size, nameSize] = [field(1), field(6), field(11)];
    const name = archive.toString("utf8", at + 110, at + 110 + nameSize - 1);
    const content = at + Math.ceil((110 + nameSize) / 4) * 4;
    yield { name, mode, content: archive.toString("utf8", content, content + size) };
    at = content + Math.ceil(size / 4) * 4;
  }
}

it("packs folders and programs that a kernel can unpack, and ends with the trailer", () => {
  const archive = packInitrd([
    { name: "guest", content: Buffer.from("12345") },
    { name: "modules" },
    { name: "modules/00-a.ko", content: Buffer.from("") },
  ]);
  expect([...members(archive)]).toEqual([
    { name: "guest", mode: 0o100755, content: "12345" },
    { name: "modules", mode: 0o040755, content: "" },
    { name: "modules/00-a.ko", mode: 0o100755, content: "" },
    { name: "TRAILER!!!", mode: 0, content: "" },
  ]);
});
