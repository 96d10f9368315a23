import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromByteText, toByteText } from "./byte-text.ts";
import { parsePatch } from "./parse-patch.ts";
import { pathsOf, patchTree, type FileState } from "./patch-tree.ts";

type Tree = Map<string, FileState>;

const file = (content: string, mode = 0o644): FileState => ({ type: "file", mode, content: toByteText(content) });
const link = (target: string): FileState => ({ type: "symlink", mode: 0o777, content: toByteText(target) });

function apply(patch: string, before: Tree) {
  const { files, states } = patchTree(parsePatch(patch), before);
  const after = new Map(before);
  for (const [path, state] of states) {
    if (state) after.set(path, state);
    else after.delete(path);
  }
  return { files, after };
}

let repository: string;
const git = (args: string[], input?: Buffer, cwd = repository): Buffer =>
  execFileSync("git", args, { cwd, maxBuffer: 1 << 28, stdio: ["pipe", "pipe", "pipe"], ...(input && { input }) });

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), "cloche-patch-"));
  git(["init", "--quiet", "--bare", "."]);
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** Two commits with the given trees, the first the parent of the second. */
function commit(before: Tree, after: Tree): void {
  const parts: Buffer[] = [];
  const modes = { file: (mode: number) => (mode & 0o100 ? "100755" : "100644"), symlink: () => "120000" };
  for (const [at, one] of [before, after].entries()) {
    parts.push(Buffer.from(`${at === 0 ? "reset refs/heads/x\n" : ""}commit refs/heads/x\nmark :${at + 1}\n`));
    parts.push(Buffer.from(`committer T <t@example.org> 0 +0000\ndata 0\n${at === 1 ? "from :1\n" : ""}deleteall\n`));
    for (const [path, { type, mode, content }] of one) {
      const name = path.replaceAll(/[^a-z]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
      parts.push(Buffer.from(`M ${modes[type](mode)} inline "${name}"\ndata ${content.length}\n`));
      parts.push(fromByteText(content), Buffer.from("\n"));
    }
  }
  git(["fast-import", "--quiet", "--force"], Buffer.concat(parts));
}

const line = fc.constantFrom(
  "",
  "a",
  "b",
  "c",
  "}",
  "-- ",
  "--- a/x",
  "+++ b/x",
  "@@ -1 +1 @@",
  "ä",
  "cr\r",
  "\\ No",
  " blank",
);
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
  .map(([lines, ended]) => lines.map((one) => `${one}\n`).join("") + (ended ? "" : "end"));
const state = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(text, fc.constantFrom(0o644, 0o755)).map(([content, mode]) => file(content, mode)) },
  { weight: 1, arbitrary: fc.constantFrom("a", "../x", "ä b").map(link) },
);
const path = fc.constantFrom(
  ...[
    "a",
    "b",
    "a/x",
    "b/x",
    "a/b/x",
    "dir/file",
    "dir",
    "sp ace/n m",
    "tab\tbed",
    "new\nline",
    'quo"te',
    "ä",
    "b\\s",
    "x b/x",
  ].map(toByteText),
);

/** No file is a folder of another. */
function sound(entries: readonly (readonly [string, FileState])[]): Tree {
  const result: Tree = new Map();
  for (const [name, one] of entries) {
    const clashes = [...result.keys()].some((other) => name.startsWith(`${other}/`) || other.startsWith(`${name}/`));
    if (!clashes) result.set(name, one);
  }
  return result;
}

function edited({ content, ...rest }: FileState, at: number, piece: string): FileState {
  if (rest.type === "symlink") return { ...rest, content: `${content}x` };
  const lines = content.split("\n");
  lines.splice(at % (lines.length + 1), at % 3, ...piece.split("\n").slice(0, 2));
  return { ...rest, content: lines.join("\n") };
}

type Edit = readonly [
  kind: "keep" | "edit" | "replace" | "drop" | "move" | "move-edit",
  at: number,
  to: string,
  with_: FileState,
];
const edit: fc.Arbitrary<Edit> = fc.tuple(
  fc.constantFrom<Edit[0][]>("keep", "edit", "replace", "drop", "move", "move-edit"),
  fc.nat(20),
  path,
  state,
);

const trees = fc
  .tuple(
    fc.array(fc.tuple(path, state), { maxLength: 7 }),
    fc.array(edit, { minLength: 7, maxLength: 7 }),
    fc.array(fc.tuple(path, state), { maxLength: 3 }),
  )
  .map(([entries, edits, added]) => {
    const before = sound(entries);
    const kept = [...before].flatMap(([name, one], index): [string, FileState][] => {
      const [kind, at, to, other] = edits[index] ?? ["keep", 0, name, one];
      switch (kind) {
        case "keep":
          return [[name, one]];
        case "edit":
          return [[name, edited(one, at, other.content)]];
        case "replace":
          return [[name, other]];
        case "drop":
          return [];
        case "move":
          return [[to, one]];
        case "move-edit":
          return [[to, edited(one, at, other.content)]];
      }
    });
    return { before, after: sound([...kept, ...added]) };
  });

describe("a patch that git makes of two trees", () => {
  const forms = [
    ["--no-renames"],
    ["-M"],
    ["-M20%", "-C", "--find-copies-harder"],
    ["--no-prefix", "-M"],
    ["-U0", "-M"],
    ["-U1"],
    ["-U0", "--no-prefix", "--no-renames"],
    ["--src-prefix=i/", "--dst-prefix=w/"],
  ];
  it.each(forms.map((form) => [form.join(" "), form] as const))(
    "gives exactly the second one (%s)",
    (_, form) => {
      fc.assert(
        fc.property(trees, ({ before, after }) => {
          commit(before, after);
          const patch = git(["diff-tree", "-p", "-r", ...form, "refs/heads/x~1", "refs/heads/x"]).toString("utf8");
          const result = patch === "" ? before : apply(patch, before).after;
          expect(result, patch).toEqual(after);
        }),
        { numRuns: 25 },
      );
    },
    60_000,
  );
});

describe("the history of this project", () => {
  const checkout = fileURLToPath(new URL("../..", import.meta.url));
  const hashes = git(["log", "--no-merges", "--format=%H", "-n", "30"], undefined, checkout)
    .toString()
    .trim()
    .split("\n");

  it.each(hashes)("applies again, commit %s", (hash) => {
    const show = (args: string[]) => git(args, undefined, checkout);
    const parent =
      show(["log", "-1", "--format=%P", hash]).toString().trim() ||
      git(["hash-object", "-t", "tree", "/dev/null"], undefined, checkout).toString().trim();
    const binary = show(["diff-tree", "-r", "--numstat", "--no-renames", "-z", parent, hash])
      .toString("latin1")
      .split("\0")
      .flatMap((row) => (row.startsWith("-\t-\t") ? [`:(exclude)${row.slice(4)}`] : []));
    const patch = show(["diff-tree", "-p", "-r", "-M", parent, hash, "--", ".", ...binary]).toString("utf8");
    const paths = pathsOf(parsePatch(patch));
    const read = (from: string): Tree => {
      const rows = show(["ls-tree", "-r", "-z", from]).toString("latin1").split("\0").filter(Boolean);
      const wanted = rows.flatMap((row) => {
        const [, mode = "", id = "", name = ""] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(row) ?? [];
        return paths.has(name) ? [{ mode, id, name }] : [];
      });
      let rest = git(["cat-file", "--batch"], Buffer.from(wanted.map(({ id }) => `${id}\n`).join("")), checkout);
      return new Map(
        wanted.map(({ mode, name }) => {
          const head = rest.indexOf("\n");
          const size = Number(rest.subarray(0, head).toString().split(" ")[2]);
          const content = rest.subarray(head + 1, head + 1 + size).toString("latin1");
          rest = rest.subarray(head + 2 + size);
          const type = mode === "120000" ? ("symlink" as const) : ("file" as const);
          return [name, { type, mode: type === "symlink" ? 0o777 : mode === "100755" ? 0o755 : 0o644, content }];
        }),
      );
    };
    expect(apply(patch, read(parent)).after).toEqual(read(hash));
  });
});
