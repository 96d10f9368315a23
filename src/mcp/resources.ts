import {
  ProtocolError,
  ProtocolErrorCode,
  type ListResourcesResult,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import { isClocheError } from "../base/errors.ts";
import { failure, toErrorDocument } from "../model/error-codes.ts";
import { count } from "./bounded.ts";
import type { ScopedClient } from "./scope/scoped-client.ts";
import { boundSummary } from "./tools/workspace-summary.ts";
import {
  DIFF_TEMPLATE,
  diffUri,
  FILE_TEMPLATE,
  parseWorkspaceUri,
  SUMMARY_TEMPLATE,
  summaryUri,
  type WorkspaceUri,
} from "./workspace-uri.ts";

/** A resource is given whole or not at all: a tool reads what is larger, part by part. */
const MAX_BYTES = 1_048_576;
const MAX_LISTED = 50;

export const RESOURCE_TEMPLATES = [
  {
    name: "workspace-file",
    uriTemplate: FILE_TEMPLATE,
    description: "A file of a workspace; path is under /workspace",
  },
  {
    name: "workspace-diff",
    uriTemplate: DIFF_TEMPLATE,
    mimeType: "text/x-diff",
    description: "What changed since the workspace was created; `git apply` takes it",
  },
  {
    name: "workspace-summary",
    uriTemplate: SUMMARY_TEMPLATE,
    mimeType: "application/json",
    description: "What happened since the workspace was created or reset",
  },
];

export async function listResources(cloche: ScopedClient, signal: AbortSignal): Promise<ListResourcesResult> {
  const { workspaces } = await cloche.listWorkspaces({ signal });
  const resources = workspaces.slice(0, MAX_LISTED).flatMap(({ workspace_id: id, name }) => {
    const title = name === null ? id : `${name} (${id})`;
    return [
      { uri: diffUri(id), name: `Changes in ${title}`, mimeType: "text/x-diff" },
      { uri: summaryUri(id), name: `Summary of ${title}`, mimeType: "application/json" },
    ];
  });
  return { resources };
}

export async function readResource(
  cloche: ScopedClient,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const address = parseWorkspaceUri(uri);
  if (address === undefined)
    throw notFound(
      uri,
      `There is no resource "${uri.slice(0, 200)}"`,
      "See resources/templates/list for what there is",
    );
  try {
    return { contents: [{ uri, ...(await contentOf(cloche, address, signal)) }] };
  } catch (error) {
    throw isClocheError(error) ? notFound(uri, error.message, error.hint, toErrorDocument(error)) : error;
  }
}

async function contentOf(
  cloche: ScopedClient,
  address: WorkspaceUri,
  signal: AbortSignal,
): Promise<{ mimeType: string; text: string } | { mimeType: string; blob: string }> {
  const { workspaceId } = address;
  if (address.kind === "summary") {
    const summary = boundSummary(await cloche.summarizeWorkspace(workspaceId, { signal }));
    return { mimeType: "application/json", text: JSON.stringify(summary, null, 2) };
  }
  if (address.kind === "diff") {
    const { patch } = await cloche.diffWorkspace(workspaceId, { signal });
    if (patch.length > MAX_BYTES) throw tooLarge("The diff", patch.length, "workspace_diff");
    return { mimeType: "text/x-diff", text: patch };
  }
  // SECURITY: the path goes into the sandbox as it came; no file of the host is ever opened for a resource (G-19)
  const file = await cloche.readWorkspaceFile(workspaceId, address.path, { max_bytes: MAX_BYTES, signal });
  if (file.truncated) throw tooLarge(`"${file.path}"`, file.size_bytes, "workspace_file_read");
  return file.encoding === "base64"
    ? { mimeType: "application/octet-stream", blob: file.content }
    : { mimeType: "text/plain", text: file.content };
}

const tooLarge = (what: string, size: number, tool: string): Error =>
  failure("FILE_TOO_LARGE", `${what} has ${count(size)} bytes, more than a resource gives`, {
    hint: `Read it part by part with ${tool}`,
  });

function notFound(uri: string, message: string, hint: string, document: object = {}): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${message}. ${hint}`, { uri, ...document });
}
