import { ENTRY_BUDGET, SIDE_BUDGET, TEXT_BUDGET } from "../../src/mcp/bounded.ts";
import { describeTools, type ToolDescription } from "../../src/mcp/describe-tools.ts";
import { FULL_ARGUMENTS, MODES, PROFILES, selectTools } from "../../src/mcp/profiles.ts";
import { PROMPTS } from "../../src/mcp/prompts.ts";
import { RESOURCE_TEMPLATES } from "../../src/mcp/resources.ts";
import { NOT_APPLYING, PASSING } from "../fixtures/mcp-conformance.ts";

const HEAD = `# The MCP server

Chat hosts and agents use workspaces over the [Model Context Protocol](https://modelcontextprotocol.io). To connect one, see [hosts](hosts/README.md); what they start is

\`\`\`sh
cloche mcp serve
\`\`\`

It speaks the protocol on standard input and output, both in the revisions that open with \`initialize\` and in the one that does not. Standard output carries nothing else; what there is to say beside it is on
standard error. This page is written from the tables of \`src/mcp/\` with \`UPDATE=1 npx vitest run --project unit test/repo/docs.test.ts\`.

## What a workspace begins with

Started in a git checkout, new workspaces begin with its files: what git tracks, and untracked files that it does not ignore. The description of \`workspace_create\` says what that is.

| option | a workspace begins with |
|---|---|
| none | the git checkout around the folder that the server was started in; nothing when there is none |
| \`--project-path PATH\` | that folder |
| \`--repo-url URL [--repo-ref REF]\` | a clean clone, made on the host when the first workspace needs it, and kept while the server runs. No hook and no submodule of it runs or is fetched; credentials in the URL are shown nowhere |
| \`--no-project-source\` | nothing |

A call that names \`seed_path\` has its own way. \`--environment\` and \`--backend\` are for workspaces that name none.

## Profiles and modes

A profile says how many tools there are. The default is \`workspace-core\`. A mode has the tools of one use case, described for it. Arguments that open a workspace or bring secrets in
(${FULL_ARGUMENTS.map((name) => `\`${name}\``).join(", ")}) are offered by \`workspace-full\` only.
`;

const RESULTS = `
## Results

A result is structured content, the same object as with \`--json\` and in the SDK, and a short text. A command that ends with another code than 0 is a result. What cannot be done is a result with
\`isError\` and \`structuredContent.error\`: \`code\`, \`message\` and \`hint\` of the [closed list](errors.md).

Every result has a budget. What is longer is cut in the middle, with a line that says how much is missing and how to read it:

| what | in one result | read on with |
|---|---|---|
| standard output of a command | ${TEXT_BUDGET} characters | \`workspace_logs\` with \`sequence\` and \`offset\`; what the journal does not keep: send it to a file |
| standard error of a command | ${SIDE_BUDGET} characters | the same |
| a file | ${TEXT_BUDGET} bytes | \`offset\`, the \`next_offset\` of the last result |
| a diff | ${TEXT_BUDGET} characters | \`path\` for one file's, \`offset\` |
| a list of files | ${ENTRY_BUDGET} entries | \`cursor\`, the \`next_cursor\` of the last result |
| a service's log | ${TEXT_BUDGET} characters | \`tail_lines\` |
| a shell's output | ${TEXT_BUDGET} characters | \`cursor\`, the \`next_cursor\` of the last result |

A client that sends a progress token is told how a long call goes: a command's last line, at most once a second. Cancelling a call ends its command; so does a client that goes away. The workspace stays.
\`workspace_create\` with an \`idempotency_key\` gives the same workspace however often it is called.

## Tools
`;

const HTTP = `
## Over HTTP

The daemon serves the same over Streamable HTTP on 127.0.0.1, for programs of your own. Address and token are in \`cloche daemon status --json\`, as \`mcp_url\` and \`mcp_token\`; each daemon has others, and a
connected client keeps it running. A request needs \`Authorization: Bearer TOKEN\`. One with the \`Origin\` or \`Host\` of another site is refused
([G-18](guarantees.md)). Options are in the address: \`/mcp?profile=workspace-full&project_path=/path\`. There is no folder that it was started in, so a project has to be named.

\`\`\`sh
cloche daemon status --json
\`\`\`

## In a program

\`\`\`ts
import { createServer } from "cloche";

await using server = createServer({ profile: "workspace-core", mode: "repro-fix", project_path: "." });
await server.connect(transport); // of any MCP library
\`\`\`

## Conformance

The official Inspector's command line lists and calls every tool in \`test/e2e/mcp-inspector.test.ts\`. Of the official conformance suite these server scenarios pass, over HTTP:
`;

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const code = (text: string): string => `\`${text}\``;

function profilesTable(): string[] {
  const core = new Set<string>(PROFILES["workspace-core"]);
  const added = PROFILES["workspace-full"].filter((name) => !core.has(name));
  return [
    row("profile", "tools"),
    row("---", "---"),
    row(code("vm-run"), PROFILES["vm-run"].map(code).join(" ")),
    row(code("workspace-core"), PROFILES["workspace-core"].map(code).join(" ")),
    row(code("workspace-full"), `those of ${code("workspace-core")}, and ${added.map(code).join(" ")}`),
  ];
}

function modesTable(): string[] {
  const rows = Object.entries(MODES).map(([name, { purpose, tools }]) =>
    row(code(name), purpose, tools.map(code).join(" ")),
  );
  return [row("mode", "for", "tools"), row("---", "---", "---"), ...rows];
}

function toolSection({ name, description, inputSchema, outputSchema, annotations }: ToolDescription): string[] {
  const properties = inputSchema["properties"] as Record<string, { description?: string }>;
  const required = (inputSchema["required"] as string[] | undefined) ?? [];
  const rows = Object.entries(properties).map(([argument, { description: about = "" }]) =>
    row(
      code(argument),
      required.includes(argument) ? "needed" : FULL_ARGUMENTS.includes(argument) ? "`workspace-full`" : "",
      about,
    ),
  );
  const nature = annotations.readOnlyHint
    ? "Changes nothing."
    : `${annotations.destructiveHint ? "May lose something." : "Loses nothing."}${annotations.idempotentHint ? " Asking twice is as asking once." : ""}`;
  return [
    "",
    `### ${name}`,
    "",
    `${description} ${nature}`,
    ...(rows.length === 0 ? [] : ["", row("argument", "", ""), row("---", "---", "---"), ...rows]),
    "",
    `Gives ${Object.keys(outputSchema["properties"] as object)
      .map(code)
      .join(" ")}, and more.`,
  ];
}

function resources(): string[] {
  return [
    "",
    "## Resources",
    "",
    row("address", "what"),
    row("---", "---"),
    ...RESOURCE_TEMPLATES.map(({ uriTemplate, description }) => row(code(uriTemplate), description)),
    "",
    "## Prompts",
    "",
    row("prompt", "what", "arguments"),
    row("---", "---", "---"),
    ...Object.entries(PROMPTS).map(([name, { description, arguments: known }]) =>
      row(
        code(name),
        description,
        known
          .map((one) => `${code(one.name)}${one.required ? "" : " (may be left out)"}: ${one.description}`)
          .join("; "),
      ),
    ),
  ];
}

/** `docs/mcp.md` as it has to be. */
export function renderMcpPage(): string {
  const tools = describeTools(selectTools("workspace-full", undefined), {});
  return [
    HEAD,
    ...profilesTable(),
    "",
    ...modesTable(),
    RESULTS.trimEnd(),
    ...tools.flatMap((tool) => toolSection({ ...tool, description: tool.description.trim() })),
    ...resources(),
    HTTP,
    PASSING.map(code).join(" "),
    "",
    "The others say nothing about this server:",
    "",
    row("scenario", "why it does not apply"),
    row("---", "---"),
    ...Object.entries(NOT_APPLYING).map(([scenario, reason]) => row(code(scenario), reason)),
    "",
  ].join("\n");
}
