import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageOf } from "../../src/base/errors.ts";
import { GLOBAL_OPTIONS } from "../../src/cli/arguments/option-spec.ts";
import { splitAtDashes } from "../../src/cli/arguments/command-start.ts";
import { parseArguments } from "../../src/cli/arguments/parse-arguments.ts";
import { COMMAND_TREE } from "../../src/cli/registry.ts";
import { resolveCommand } from "../../src/cli/resolve-command.ts";
import { defaultHint, ERROR_CODES, type ErrorCode } from "../../src/model/error-codes.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { renderCliPage } from "./cli-page.ts";
import { renderErrorsPage } from "./errors-page.ts";
import { renderMcpPage } from "./mcp-page.ts";
import { folderPattern, hostPattern, hostsIn, ownFolders, packageHosts } from "./machine-names.ts";
import { findAnchors, findCodeSpans, findFences, findLinks, resolveLink } from "./markdown.ts";
import { projectFiles, readProjectFile, ROOT } from "./project-files.ts";
import { shellCommands } from "./shell-words.ts";

const files = projectFiles();
const pages = files.filter((file) => file.endsWith(".md"));
const SHELL = new Set(["sh", "bash", "shell", "console"]);

interface Example {
  readonly place: string;
  readonly words: readonly string[];
}

/** The commands of fenced shell blocks: to be typed as they are. */
const examples: readonly Example[] = pages.flatMap((page) =>
  findFences(readProjectFile(page))
    .filter(({ language }) => SHELL.has(language))
    .flatMap(({ text, line }) => shellCommands(text).map((words) => ({ place: `${page}:${line}`, words }))),
);

/** Commands in running text, and in the hints of errors. */
const mentions: readonly Example[] = [
  ...pages.flatMap((page) =>
    findCodeSpans(readProjectFile(page)).map(({ text, line }) => ({ place: `${page}:${line}`, text })),
  ),
  ...(Object.keys(ERROR_CODES) as ErrorCode[]).flatMap((code) =>
    findCodeSpans(defaultHint(code)).map(({ text }) => ({ place: code, text })),
  ),
].flatMap(({ place, text }) => shellCommands(text).map((words) => ({ place, words })));

/** Words after `cloche`, wherever in a command it is called; undefined for other commands. */
function clocheWords(words: readonly string[]): readonly string[] | undefined {
  const rest = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
  if (rest[0] === "npx" && rest[1] === "cloche") return rest.slice(2);
  return rest[0] === "cloche" ? rest.slice(1) : undefined;
}

/** Why the CLI would not take these words, or undefined when it would. */
async function refusal(words: readonly string[], complete: boolean): Promise<string | undefined> {
  if (words[0] === "--version") return undefined;
  try {
    const found = resolveCommand(COMMAND_TREE, words);
    if (found.kind === "group")
      return complete && found.flags.length === 0 ? "it stops at a group of commands" : undefined;
    const command = await found.entry.load();
    if (complete) parseArguments(command, found.rest);
    // Running text names a command without all that it needs; but what it names has to exist.
    const known = new Set(Object.keys({ ...command.options, ...GLOBAL_OPTIONS }));
    const flags = splitAtDashes(found.rest).own.flatMap((word) => /^--([\w-]+)/.exec(word)?.[1] ?? []);
    return flags.find((flag) => !known.has(flag));
  } catch (error) {
    return messageOf(error);
  }
}

async function refusals(list: readonly Example[], complete: boolean): Promise<string[]> {
  const checked = list.map(async ({ place, words }) => {
    const own = clocheWords(words);
    const problem = own && (await refusal(own, complete));
    return problem === undefined ? [] : [`${place} ${words.join(" ")}: ${problem}`];
  });
  return (await Promise.all(checked)).flat();
}

describe("links", () => {
  it("lead to files and headings that exist", () => {
    const folders = new Set(files.flatMap((file) => parents(file)));
    const broken = pages.flatMap((page) =>
      findLinks(readProjectFile(page)).flatMap(({ text, line }) => {
        const link = resolveLink(page, text);
        if (link === undefined) return [];
        const { file, anchor } = link;
        if (!files.includes(file) && !folders.has(file)) return [`${page}:${line} ${text}: no such file`];
        const found = anchor === "" || !file.endsWith(".md") || findAnchors(readProjectFile(file)).has(anchor);
        return found ? [] : [`${page}:${line} ${text}: no such heading`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("in words too: a file that a text names exists", () => {
    const folders = new Set(files.flatMap((file) => parents(file)));
    const gone = pages.flatMap((page) =>
      findCodeSpans(readProjectFile(page)).flatMap(({ text, line }) => {
        const path = /^((?:src|test|docs|guest|scripts|bench|examples)\/[\w./-]*)$/.exec(text)?.[1]?.replace(/\/$/, "");
        if (path === undefined || path === "bench/results") return [];
        return files.includes(path) || folders.has(path) ? [] : [`${page}:${line} ${text}`];
      }),
    );
    expect(gone).toEqual([]);
  });

  it("are found in prose and not in code, and headings get the anchors that GitHub gives them", () => {
    const page =
      '# A `b`, c!\n\n[x](a.md#b) `[y](z)` ![i](<p.png> "t")\n\n```md\n[no](no.md)\n# no\n```\n\n## Twice\n## Twice\n[r]: ref.md\n';
    expect(findLinks(page).map(({ text }) => text)).toEqual(["a.md#b", "p.png", "ref.md"]);
    expect([...findAnchors(page)]).toEqual(["a-b-c", "twice", "twice-1"]);
    expect(resolveLink("docs/a.md", "../b.md#c")).toEqual({ file: "b.md", anchor: "c" });
    expect(resolveLink("docs/a.md", "https://example.com/b.md")).toBeUndefined();
  });
});

describe("commands", () => {
  it("of examples are ones that the CLI takes", async () => {
    expect(
      examples.filter(({ words }) => clocheWords(words)).length,
      "examples of cloche in the documents",
    ).toBeGreaterThan(5);
    expect(await refusals(examples, true)).toEqual([]);
  });

  it("in running text and in hints exist, with their flags", async () => {
    expect(
      await refusals(
        mentions.filter(({ words }) => !words.some((word) => /[…|[\]]/.test(word))),
        false,
      ),
    ).toEqual([]);
  });

  it("of make are targets of the Makefile", () => {
    const makefile = readProjectFile("Makefile");
    const targets = new Set([...makefile.matchAll(/^([a-z][\w-]*):/gm)].map((match) => match[1]));
    const named = [...examples, ...mentions].filter(({ words }) => words[0] === "make" && words.length > 1);
    expect(named.length).toBeGreaterThan(2);
    const missing = named.filter(({ words }) =>
      words.slice(1).some((word) => /^[a-z]/.test(word) && !targets.has(word)),
    );
    expect(missing.map(({ place, words }) => `${place} ${words.join(" ")}`)).toEqual([]);
  });

  it("of the SDK are methods of its client", () => {
    const blocks = pages.flatMap((page) =>
      findFences(readProjectFile(page)).filter(({ language }) => language === "ts"),
    );
    const called = blocks.flatMap(({ text }) =>
      [...text.matchAll(/\bcloche\.(\w+)\(/g)].map((match) => match[1] ?? ""),
    );
    expect(called.length).toBeGreaterThan(3);
    expect(called.filter((name) => !(name in Cloche.prototype))).toEqual([]);
  });

  it("that do not exist are noticed", async () => {
    const check = (text: string, complete: boolean) =>
      refusals(
        shellCommands(text).map((words) => ({ place: "here", words })),
        complete,
      );
    expect(
      await check(
        "npx cloche workspace list --json && ID=$(cloche workspace create --id-only) # cloche nonsense",
        true,
      ),
    ).toEqual([]);
    expect(await check("cloche run -- sh -c 'id; cloche nonsense'", true)).toEqual([]);
    expect(await check("cloche workspace list 2>&1 >list.txt && cloche doctor > 'it' 2>/dev/null", true)).toEqual([]);
    expect(await check("cloche doctor > it nonsense", true)).toHaveLength(1);
    expect(await check("cloche nonsense", true)).toHaveLength(1);
    expect(await check("X=1 npx cloche workspace list --nonsense", true)).toHaveLength(1);
    expect(await check("echo $(cloche workspace status)", true)).toHaveLength(1);
    expect(await check("cloche workspace exec", false)).toEqual([]);
    expect(await check("cloche workspace create --seed-path", false)).toEqual([]);
    expect(await check("cloche workspace nonsense", false)).toHaveLength(1);
    expect(await check("cloche workspace exec --nonsense", false)).toHaveLength(1);
  });
});

describe("pages that follow the code", () => {
  it.each([
    ["docs/errors.md", "every error code, exit code and hint", renderErrorsPage],
    ["docs/cli.md", "every command, argument, option and example", renderCliPage],
  ])("%s has %s", async (page, _, render) => {
    const path = join(ROOT, page);
    const wanted = await render();
    if (process.env["UPDATE"] === "1") writeFileSync(path, wanted);
    expect(readFileSync(path, "utf8")).toBe(wanted);
  });

  it("docs/mcp.md has every tool, profile, mode, resource and prompt of the MCP server", () => {
    const path = join(ROOT, "docs/mcp.md");
    if (process.env["UPDATE"] === "1") writeFileSync(path, renderMcpPage());
    expect(readFileSync(path, "utf8")).toBe(renderMcpPage());
  });

  it("docs/dependencies.md has a row for every run-time dependency and names every other", () => {
    const page = readProjectFile("docs/dependencies.md");
    const manifest = JSON.parse(readProjectFile("package.json")) as Record<
      "dependencies" | "devDependencies",
      Record<string, string>
    >;
    const [runTime = "", rest = ""] = page.split(/^## For development$/m);
    const rows = [
      ...(/^## At run time$([\s\S]*?)(?=^## )/m.exec(`${runTime}## `)?.[1] ?? "").matchAll(/^\| `([^`]+)` \|/gm),
    ];
    expect(rows.map((match) => match[1]).sort()).toEqual(Object.keys(manifest.dependencies).sort());
    expect(Object.keys(manifest.devDependencies).filter((name) => !rest.includes(`\`${name}\``))).toEqual([]);
  });

  it("docs/decisions/README.md lists every decision by its title, in order", () => {
    const decisions = files.filter((file) => /^docs\/decisions\/\d{4}-.*\.md$/.test(file));
    const listed = readProjectFile("docs/decisions/README.md").match(/^- .*$/gm);
    const wanted = decisions.map(
      (file) => `- [${readProjectFile(file).split("\n")[0]?.slice(2)}](${file.slice("docs/decisions/".length)})`,
    );
    expect(listed).toEqual(wanted);
    const numbers = decisions.map((file) => /\/(\d{4})-/.exec(file)?.[1]);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it("README.md can be read in a few minutes", () => {
    expect(readProjectFile("README.md").split("\n").length).toBeLessThanOrEqual(151);
  });
});

describe("files of the repository", () => {
  // What was found is told by its place only: the message must not name what must not be named.
  it("name no folder of this machine and no host that its packages come from", () => {
    const patterns = [...ownFolders(ROOT).map(folderPattern), ...packageHosts().map(hostPattern)];
    const found = files.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), "latin1");
      if (text.includes("\0")) return [];
      const lines = text.split("\n");
      return lines.flatMap((line, index) =>
        patterns.some((pattern) => pattern.test(line)) ? [`${file}:${index + 1}`] : [],
      );
    });
    expect(found).toEqual([]);
  });

  it("would be found out", () => {
    expect(hostsIn("deb [a=b] https://user:pw@packages.example/debian x\nURIs: http://m.example:80/d")).toEqual([
      "packages.example",
      "m.example",
    ]);
    expect(hostPattern("m.example").test("see http://m.example/x")).toBe(true);
    expect(hostPattern("m.example").test("see http://other-m.example/x")).toBe(false);
    expect(hostPattern("mirror").test("a mirror of it")).toBe(false);
    expect(folderPattern("/there/is").test('cd "/there/is/nothing"')).toBe(true);
    expect(folderPattern("/there/is").test("over/there/is /there/island")).toBe(false);
    expect(ownFolders("/tmp/checkout")).toEqual(["/tmp/checkout"]);
  });
});

function parents(file: string): string[] {
  const parent = dirname(file);
  return parent === "." ? ["."] : [parent, ...parents(parent)];
}
