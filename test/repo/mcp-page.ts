import { RESULT_BUDGET, SIDE_BUDGET, TEXT_BUDGET } from "../../src/mcp/bounded.ts";
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

It speaks the protocol on standard input and output, both in the revisions that open with \`initialize\` and in the one that does not. Standard output carries nothing else; notes are on
standard error. This page is written from the tables of \`src/mcp/\` with \`UPDATE=1 npx vitest run --project unit test/repo/docs.test.ts\`.

## What a workspace begins with

Started in a git checkout, new workspaces begin with its files: what git tracks, and untracked files that it does not ignore. The description of \`workspace_create\` says what that is.

| option | a workspace begins with |
|---|---|
| none | the git checkout around the folder that the server was started in; nothing when there is none |
| \`--project-path PATH\` | that folder |
| \`--repo-url URL [--repo-ref REF]\` | a clean clone, made on the host when the first workspace needs it, and kept while the server runs. No hook and no submodule of it runs or is fetched; credentials in the URL are shown nowhere |
| \`--no-project-source\` | nothing |

A folder or archive of the project that a call names as \`seed_path\` takes its place. \`--environment\` and \`--backend\` are for workspaces that name none.

## What the tools reach of the host

The project, and no more ([G-23](guarantees.md), [0021](decisions/0021-mcp-host-access.md)). A text that talks the model into something has nothing else to gain.

| what | by itself | more with |
|---|---|---|
| reading: \`seed_path\`, \`source_path\` | what a seed of the project brings, by its real path: nothing that git ignores, nothing of \`.git\` by its own name, nothing through a link. Relative paths begin at the project. Without a project: nothing | \`--allow-read PATH\`: all that is below it |
| files that git ignores: \`include\`, \`include_ignored\` | nothing; their names and sizes are told | \`--allow-ignored GLOB\`: what a call asks for and this covers; [a file with secrets](configuration.md#secrets) if both name it |
| a secret's \`file_path\` | nothing | \`--allow-read PATH\` |
| writing: \`output_path\` | new paths in \`.cloche/exports\` of the project, which is made when it is needed and ignored by git, or in \`--output-dir FOLDER\`; through no link, onto and below no name that begins with a dot. A \`.git\` in what is exported stays in the sandbox, and what git would take for a repository under another name is refused. Relative paths begin at that folder. Without a project and a folder: nothing | \`--allow-write PATH\`: it, or new paths below it |
| environments | \`host\`, \`debian:*\`, and the server's own \`--environment\` | \`--allow-environment NAME\`; one that ends with \`*\` stands for all that begin so |
| workspaces, also as resources and completions | those that servers of this project have made | \`--all-workspaces\` |

Each can be given more than once, but for the folder and \`--all-workspaces\`. What is refused says which option would allow it. \`cloche host doctor\` shows what the tools of each connected host reach. A checkout is not found by looking upwards when it is your home
or above it: name it with \`--project-path\`. With \`--repo-url\` no folder of the host is the project: tools read nothing of the host, exports need \`--output-dir\`, and servers of the same URL and ref share their workspaces.

A workspace that a tool makes has the label \`cloche.mcp\`, which the command line shows, and which no tool sees or changes. Servers of the same project that may read the same and use the same environments share it, but for those with profile \`workspace-full\`: theirs may have a network and secrets, so they have one of their own, and reach those of the others too. It is shared so that a host which starts its server again finds its
workspaces. Without a project it is the session's: of the process, of the program's server, over HTTP of the \`Mcp-Session-Id\`, or for clients without sessions of the address while its server runs.

What stays open: a model may choose another backend than \`--backend\`; with \`workspace-full\` it may publish a service on a port of 127.0.0.1 from 1024 on, and so learn which are taken; and what an exported file does when you run it is the sandbox's word.

## Profiles and modes

A profile says how many tools there are. The default is \`workspace-core\`. A mode has the tools of one use case, described for it. Arguments that open a workspace or bring secrets in
(${FULL_ARGUMENTS.map((name) => `\`${name}\``).join(", ")}) are offered by \`workspace-full\` only.
`;

const RESULTS = `
## Results

A result is structured content, the same object as with \`--json\` and in the SDK, and a short text. A command that ends with another code than 0 is a result. What cannot be done is a result with
\`isError\` and \`structuredContent.error\`: \`code\`, \`message\` and \`hint\` of the [closed list](errors.md).

Every result has a budget of ${RESULT_BUDGET} characters, which counts the structured content as it is sent, because that is what hosts show their model: a line break is two. What is longer is cut in the middle, with a line that says how much is
missing and how to read it:

| what | in one result | read on with |
|---|---|---|
| standard output of a command | ${TEXT_BUDGET} characters | \`workspace_logs\` with \`sequence\` and \`offset\`; what the journal does not keep: send it to a file |
| standard error of a command | ${SIDE_BUDGET} characters | the same |
| a file | ${TEXT_BUDGET} characters | \`offset\`, the \`next_offset\` of the last result |
| a diff | ${TEXT_BUDGET} characters | \`path\` for one file's, \`offset\` |
| a list of files or workspaces | ${TEXT_BUDGET} characters | \`cursor\`, the \`next_cursor\` of the last result |
| a service's log | ${TEXT_BUDGET} characters | \`tail_lines\` |
| a shell's output | ${TEXT_BUDGET} characters | \`cursor\`, the \`next_cursor\` of the last result |

Whatever else does not fit gives way too, the longest part first: then \`cut\` says of which field how much is shown, and \`read_on\` how to get the rest.

A client that sends a progress token is told how a long call goes: a command's last line, at most once a second. Cancelling a call ends its command; so does a client that goes away. The workspace stays.
\`workspace_create\` with an \`idempotency_key\` gives the same workspace however often it is called.

## Tools
`;

const HTTP = `
## Over HTTP

The daemon serves the same over Streamable HTTP on 127.0.0.1.

A client with a fixed configuration gets its address and a token from \`cloche mcp token\`, or with \`--config\` an entry for its \`mcpServers\`. Both last: the token and the port are kept in \`mcp-token.json\` of the cloche home, and the next
daemon listens there again; \`mcp.port\` in [config.yaml](configuration.md) chooses the port. A client cannot start the daemon, so one with such a token does not end by itself; after a boot, any command starts it, \`cloche mcp token\` for one.
\`--rotate\` makes another token and \`--revoke\` ends it: at once, and who is connected by it is disconnected.

A program of your own can do without: \`cloche daemon status --json\` tells the address of this daemon as \`mcp_url\`, and as \`mcp_token\` one that each daemon makes anew; a connected client keeps the daemon running.

Where a port is fixed, another user of the machine can listen there while no daemon does, and gets what your clients send, the token among it. What then holds, and what does not ([G-34](guarantees.md)):

- The token is of no use to them: the daemon serves processes of its own user only, whoever has the token.
- The daemon does not hide it. It uses another port, says so in \`daemon.log\`, and \`cloche mcp token\` fails with \`PORT_TAKEN\` and names the user.
- What listens there can answer your clients, with tools of its own. Nothing in a bearer token tells a client whom it talks to. Where you do not trust the other users, use stdio, or as root a port below 1024, which no other user can have.

A request needs \`Authorization: Bearer TOKEN\`. One with the \`Origin\` or \`Host\` of another site is refused
([G-18](guarantees.md)). Options are in the address: \`/mcp?profile=workspace-full&project_path=/path\`, also \`output_dir\`, \`allow_read\`, \`allow_write\`, \`allow_environment\`, \`allow_ignored\`
(as often as needed) and \`all_workspaces=true\`. There is no folder that it was started in, so a project has to be named, and without one nothing of the host can be read. The address is configuration, as the token is: who writes it decides what
the tools reach, so let no model write it.

\`\`\`sh
cloche mcp token
cloche mcp token --config
cloche daemon status --json
\`\`\`

## In a program

\`\`\`ts
import { createServer } from "cloche";

await using server = createServer({ profile: "workspace-core", mode: "repro-fix", project_path: "." });
await server.connect(transport); // of any MCP library
\`\`\`

It takes the same options: \`output_dir\`, \`allow_read\`, \`allow_write\`, \`allow_environment\`, \`allow_ignored\` (lists) and \`all_workspaces\`.

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
