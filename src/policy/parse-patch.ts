import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import { quoted, type ByteText } from "./byte-text.ts";
import type { FilePatch } from "./file-patch.ts";
import { HUNK_HEADER, parseHunks, type ParsedHunks } from "./parse-hunks.ts";
import { PatchLines } from "./patch-lines.ts";
import {
  parseBareName,
  parseGitHeader,
  parseHeaderName,
  plainPath,
  toPatchPath,
  type HeaderName,
} from "./patch-names.ts";
import type { GitMode } from "./unified-diff.ts";

/**
 * Reads a unified diff as git or `diff -u` write it. What is between files (mails, commit messages, "Only in") is passed over; a hunk that
 * belongs to no file and what a text patch cannot carry are PATCH_INVALID.
 */
export function parsePatch(patch: string): FilePatch[] {
  const lines = new PatchLines(patch);
  const files: FilePatch[] = [];
  while (!lines.ended) {
    const line = lines.peek();
    if (line.startsWith("diff --git ")) files.push(parseGitFile(lines));
    else if (lines.atFileHeader) files.push(parsePlainFile(lines));
    else {
      refuse(lines, line);
      lines.skip();
    }
  }
  if (files.length === 0) throw failure("PATCH_INVALID", "The patch names no file");
  return files;
}

function refuse(lines: PatchLines, line: ByteText): void {
  if (HUNK_HEADER.test(line)) throw lines.invalid("a hunk comes before the --- and +++ lines of its file");
  if (/^diff --(?:cc|combined) /.test(line)) {
    throw lines.invalid(`${quoted(line.replace(/^diff --\w+ /, ""))} is a merge of several versions`, MERGE_HINT);
  }
  const binary = /^Binary files (.*) differ$/s.exec(line);
  if (binary) throw lines.invalid(`${quoted(binary[1] ?? "")} are binary`, BINARY_HINT);
}

const MERGE_HINT = "Compare with one parent only, as `git diff PARENT COMMIT` does";
const BINARY_HINT = [way`Take the binary file out of the patch and bring it in with ${call("pushWorkspaceSync")}`];
const RENAME_HINT = "A rename needs the lines `rename from` and `rename to`, such as `git diff -M` writes";

const EXTENDED =
  /^(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|similarity index|dissimilarity index|index) (.*)$/s;

function parseGitFile(lines: PatchLines): FilePatch {
  const title = lines.peek().slice("diff --git ".length);
  const common = parseGitHeader(title);
  const fields = new Map<string, ByteText>();
  lines.skip();
  for (let match = EXTENDED.exec(lines.peek()); match; match = EXTENDED.exec(lines.peek())) {
    fields.set(match[1] ?? "", match[2] ?? "");
    lines.skip();
  }
  const shown = common ?? title;
  if (/^(?:GIT binary patch|Binary files .* differ)$/s.test(lines.peek())) {
    throw lines.invalid(`${quoted(shown)} is binary`, BINARY_HINT);
  }
  const moved = movedPaths(lines, fields);
  const header = lines.atFileHeader ? takeFileHeader(lines) : undefined;
  const path = moved?.path ?? gitPath(lines, common, header, title);
  const parsed: Partial<ParsedHunks> = header ? parseHunks(lines, path, header.crlf) : {};
  const kind =
    moved?.kind ??
    (fields.has("new file mode") || (header && header.old.name === undefined)
      ? "add"
      : fields.has("deleted file mode") || (header && header.new.name === undefined)
        ? "delete"
        : "modify");
  const unchanged = fields.get("index")?.split(" ")[1];
  const mode = (...names: string[]) =>
    toMode(lines, shown, names.map((name) => fields.get(name)).find((one) => one !== undefined) ?? unchanged);
  return {
    kind,
    path: toPatchPath(path),
    oldPath: toPatchPath(moved?.oldPath ?? path),
    oldMode: mode("old mode", "deleted file mode"),
    newMode: mode("new mode", "new file mode"),
    hunks: parsed.hunks ?? [],
    crlfHunks: parsed.crlfHunks,
  };
}

function movedPaths(lines: PatchLines, fields: ReadonlyMap<string, ByteText>) {
  for (const kind of ["rename", "copy"] as const) {
    const [from, to] = [fields.get(`${kind} from`), fields.get(`${kind} to`)];
    if (from === undefined && to === undefined) continue;
    if (from === undefined || to === undefined) throw lines.invalid(`a ${kind} says only one of its two paths`);
    return { kind, oldPath: parseBareName(from), path: parseBareName(to) };
  }
  return undefined;
}

interface FileHeader {
  readonly old: HeaderName;
  readonly new: HeaderName;
  readonly crlf: boolean;
}

function takeFileHeader(lines: PatchLines): FileHeader {
  const header = {
    old: parseHeaderName(lines.peek().slice(4)),
    new: parseHeaderName(lines.peek(1).slice(4)),
    crlf: [0, 1].every((ahead) => lines.raw(ahead)?.endsWith("\r")),
  };
  lines.skip();
  lines.skip();
  return header;
}

function gitPath(
  lines: PatchLines,
  common: ByteText | undefined,
  header: FileHeader | undefined,
  title: ByteText,
): ByteText {
  const path = common ?? (header && plainPath(header.old.name, header.new.name));
  if (path === undefined) throw lines.invalid(`${quoted(title)} does not tell which file is meant`, RENAME_HINT);
  const strange = [header?.old.name, header?.new.name].find((name) => name !== undefined && !isNameOf(name, path));
  if (strange !== undefined) throw lines.invalid(`${quoted(strange)} is not the file of ${quoted(title)}`, RENAME_HINT);
  return path;
}

const isNameOf = (name: ByteText, path: ByteText): boolean => name === path || name.endsWith(`/${path}`);

function parsePlainFile(lines: PatchLines): FilePatch {
  const header = takeFileHeader(lines);
  const [oldName, newName] = [header.old.name, header.new.name];
  const path = plainPath(oldName, newName);
  if (path === undefined) {
    if (oldName === undefined || newName === undefined) throw lines.invalid("both sides of a file are /dev/null");
    throw lines.invalid(`${quoted(oldName)} and ${quoted(newName)} are two files`, RENAME_HINT);
  }
  const { hunks, crlfHunks } = parseHunks(lines, path, header.crlf);
  const empties = (mark: "-" | "+") => hunks.every((hunk) => hunk.lines.every((line) => line.mark === mark));
  const added = oldName === undefined || (header.old.epoch && empties("+"));
  const deleted = newName === undefined || (header.new.epoch && empties("-"));
  const kind = added ? "add" : deleted ? "delete" : "modify";
  const clean = toPatchPath(path);
  return { kind, path: clean, oldPath: clean, oldMode: undefined, newMode: undefined, hunks, crlfHunks };
}

function toMode(lines: PatchLines, path: ByteText, text: string | undefined): GitMode | undefined {
  if (text === undefined || text === "120000") return text;
  if (/^100[0-7]{3}$/.test(text)) return (parseInt(text, 8) & 0o100) === 0 ? "100644" : "100755";
  const what = text === "160000" ? "a submodule" : `of mode ${quoted(text)}`;
  throw lines.invalid(`${quoted(path)} is ${what}, and neither a file nor a symlink`);
}
