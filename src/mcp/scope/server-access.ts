import { createHash, randomBytes } from "node:crypto";
import { failure } from "../../model/error-codes.ts";
import { IncludeGlob } from "../../model/seed-content.ts";
import type { AccessOptions } from "./access-options.ts";
import { HostEnvironments } from "./host-environments.ts";
import { HostReads } from "./host-reads.ts";
import { HostWrites } from "./host-writes.ts";

/** All that the tools of a server reach beside what is in its workspaces. Decided once, by the operator. */
export interface ServerAccess {
  readonly reads: HostReads;
  readonly writes: HostWrites;
  readonly environments: HostEnvironments;
  readonly allWorkspaces: boolean;
  /** Whose its workspaces are. */
  readonly owner: string;
  /** Whose its tools reach: its own, and those of servers that may do less. */
  readonly reached: readonly string[];
}

export interface AccessFacts {
  /** The folder that is the project, by its real path. */
  readonly root: string | undefined;
  /** What stands for the project in a label; undefined without one. */
  readonly identity: string | undefined;
  /** For workspaces that name none. */
  readonly environment: string | undefined;
  /** Whether its tools open sandboxes to the network and bring secrets in. */
  readonly full: boolean;
}

/** Throws for paths that cannot be. `cwd` is where relative ones begin. */
export function openAccess(options: AccessOptions, facts: AccessFacts, cwd: string): ServerAccess {
  const { root, environment } = facts;
  const ignored = checkGlobs(options.allow_ignored ?? []);
  const reads = new HostReads({ project: root, allowed: options.allow_read ?? [], ignored }, cwd);
  const listed = [...(environment === undefined ? [] : [environment]), ...(options.allow_environment ?? [])];
  const environments = new HostEnvironments(listed);
  return {
    reads,
    writes: new HostWrites(root, options.output_dir, options.allow_write ?? [], cwd),
    environments,
    allWorkspaces: options.all_workspaces ?? false,
    ...ownersOf(facts, [...reads.allowed, ...ignored], environments.listed),
  };
}

function checkGlobs(globs: readonly string[]): readonly string[] {
  const bad = globs.find((glob) => !IncludeGlob.safeParse(glob).success);
  if (bad === undefined) return globs;
  throw failure("USAGE", `Cannot use --allow-ignored ${JSON.stringify(bad)}: it is no glob below the project`, {
    hint: "Give a name such as node_modules, or a path such as packages/*/dist",
  });
}

type Owners = Pick<ServerAccess, "owner" | "reached">;

/** An owner that nobody else has, for a session without a project. */
export function newOwner(): Owners {
  const owner = `session-${randomBytes(8).toString("hex")}`;
  return { owner, reached: [owner] };
}

/**
 * Servers of one project have the same, so that one which a chat host starts again finds its workspaces. One that may read more has another: what it brought
 * into a workspace is not for those that may not.
 */
function ownersOf(
  { identity, full }: AccessFacts,
  allowedReads: readonly string[],
  environments: readonly string[],
): Owners {
  if (identity === undefined) return newOwner();
  const facts = [identity, [...allowedReads].sort(), [...environments].sort()];
  const plain = ownerOf(facts);
  if (!full) return { owner: plain, reached: [plain] };
  // SECURITY: a workspace that was opened to the network is not for a server that cannot open one (G-23)
  const owner = ownerOf([...facts, "full"]);
  return { owner, reached: [owner, plain] };
}

const ownerOf = (facts: readonly unknown[]): string =>
  `project-${createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 16)}`;
