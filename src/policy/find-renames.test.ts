import { describe, expect, it } from "vitest";
import { cpuTime } from "../../test/helpers/cpu-time.ts";
import { findRenames, type RenameCandidate } from "./find-renames.ts";

const file = (path: string, text: string): RenameCandidate => ({ path, type: "file", content: Buffer.from(text) });
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("");
const paths = (added: RenameCandidate[], deleted: RenameCandidate[]) =>
  findRenames(added, deleted).map(({ from, to }) => `${from.path} -> ${to.path}`);

describe("findRenames()", () => {
  it("pairs the same content, the same name first", () => {
    const added = [file("n/a", "same"), file("n/b", "same")];
    const deleted = [file("o/x", "same"), file("o/b", "same")];
    expect(paths([added[1]!, added[0]!], deleted)).toEqual(["o/b -> n/b", "o/x -> n/a"]);
  });

  it("pairs texts of which half is the same, the most similar first", () => {
    const deleted = [file("half", lines(0, 10)), file("most", lines(1, 11))];
    expect(paths([file("new", lines(1, 11) + "more\n")], deleted)).toEqual(["most -> new"]);
    expect(paths([file("new", lines(15, 25))], [file("old", lines(10, 20))])).toEqual(["old -> new"]);
    expect(paths([file("new", lines(16, 26))], [file("old", lines(10, 20))])).toEqual([]);
  });

  it("does not pair empty files, links with files, or what is binary and differs", () => {
    expect(paths([file("a", "")], [file("b", "")])).toEqual([]);
    expect(paths([{ ...file("a", "x"), type: "symlink" }], [file("b", "x")])).toEqual([]);
    expect(paths([file("a", "\0x\ny\n")], [file("b", "\0x\nz\n")])).toEqual([]);
    expect(paths([file("a", "\0x")], [file("b", "\0x")])).toEqual(["b -> a"]);
    expect(paths([{ path: "a", type: "file", content: undefined }], [file("b", "x")])).toEqual([]);
  });

  it("stays quick with many large files", async () => {
    const body = lines(0, 20_000);
    const many = (word: string) =>
      Array.from({ length: 300 }, (_, index) => file(`${word}${index}`, `${word}${index}\n${body}`));
    const added = many("new");
    const deleted = many("old");
    expect(await cpuTime(() => findRenames(added, deleted))).toBeLessThan(3000);
  });
});
