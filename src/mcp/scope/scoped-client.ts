import { failure } from "../../model/error-codes.ts";
import { OPERATIONS, type OperationName } from "../../model/operations.ts";
import type { WorkspaceList } from "../../model/workspace.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { CallOptions, CreateOptions, RunOptions } from "../../sdk/options.ts";
import type { HostReads } from "./host-reads.ts";
import { OwnedWorkspaces, refuseReserved, withoutReserved } from "./owned-workspaces.ts";
import type { ProjectSource } from "../project/project-source.ts";
import type { ServerAccess } from "./server-access.ts";

/** What a tool may do with each method of the client: `workspace` takes the id of a workspace first, `decided` is written out below. */
type Reach = "workspace" | "decided" | "withheld";

type Methods = Exclude<
  { [Name in keyof Cloche]: Cloche[Name] extends (...args: never[]) => unknown ? Name : never }[keyof Cloche],
  typeof Symbol.asyncDispose
>;

/**
 * SECURITY: the client knows every workspace and takes every path, so no tool, resource or completion gets it: they get this one. A method that is an
 * operation is judged in the operation's row, any other one here; one that is judged nowhere does not compile (G-23).
 */
const FURTHER = {
  openCommand: "workspace",
  run: "decided",
  openRun: "withheld",
  watch: "withheld",
  close: "withheld",
  // Handles go around what is decided here.
  workspace: "withheld",
  open: "withheld",
} as const satisfies Record<Exclude<Methods, OperationName>, Reach>;

type ReachOf<Name extends Methods> = Name extends keyof typeof FURTHER
  ? (typeof FURTHER)[Name]
  : Name extends OperationName
    ? (typeof OPERATIONS)[Name]["mcp"] extends { reach: infer Judged }
      ? Judged
      : "withheld"
    : never;

type Named<Wanted extends Reach> = {
  [Name in Methods]: ReachOf<Name> extends Wanted ? Name : never;
}[Methods];

type Async<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never;

type ByWorkspace = { readonly [Name in Named<"workspace">]: Async<Cloche[Name]> };

/** The client as tools have it: each call stays within the server's workspaces, and within what it may reach of the host. */
export type ScopedClient = ByWorkspace & Pick<Cloche, Named<"decided">>;

export function scopeClient(cloche: Cloche, access: ServerAccess, source: ProjectSource): ScopedClient {
  const owned = new OwnedWorkspaces(cloche, access);
  return { ...byWorkspace(cloche, owned), ...decided(cloche, access, owned, source) };
}

function byWorkspace(cloche: Cloche, owned: OwnedWorkspaces): ByWorkspace {
  const operations = Object.entries(OPERATIONS).map(([name, { mcp }]) => [name, mcp?.reach] as const);
  const names = [...operations, ...Object.entries(FURTHER)].flatMap(([name, reach]) =>
    reach === "workspace" ? [name as keyof ByWorkspace] : [],
  );
  const verb = (name: keyof ByWorkspace) => {
    const method = cloche[name].bind(cloche) as (id: string, ...rest: unknown[]) => unknown;
    return async (id: string, ...rest: unknown[]) => withoutReserved(await method(await owned.find(id), ...rest));
  };
  return Object.fromEntries(names.map((name) => [name, verb(name)])) as unknown as ByWorkspace;
}

function decided(
  cloche: Cloche,
  access: ServerAccess,
  owned: OwnedWorkspaces,
  source: ProjectSource,
): Pick<Cloche, Named<"decided">> {
  const { reads, writes, environments } = access;

  /** SECURITY: both ways to make a workspace come through here, where it is checked what they take of the host (G-23). */
  const within = <Options extends CreateOptions>(options: Options): Options => {
    const { seed_path: seed, secrets, environment } = options;
    const named = seed === undefined ? undefined : reads.source(seed);
    reads.checkInclude(options, named?.read_scope);
    return {
      ...options,
      environment: environment === undefined ? undefined : environments.check(environment),
      seed_path: named?.path,
      read_scope: named?.read_scope,
      secrets: secrets?.map((secret) =>
        "file_path" in secret ? { name: secret.name, ...reads.secretFile(secret.file_path) } : secret,
      ),
      // What is remembered is the user's own word about a project.
      remember_include: undefined,
      oci_runtime: undefined,
    };
  };

  return {
    /** Begins with the project where the options name nothing else. */
    async createWorkspace(options = {}) {
      const { from_workspace: from, idempotency_key: key, labels, signal } = options;
      const asked = within(options);
      const id = from === undefined ? undefined : await owned.find(from, signal);
      const seed = from === undefined && asked.seed_path === undefined ? await projectSeed(source, reads, options) : {};
      // A copy keeps the labels of what it is of, unless it gets its own.
      const inherited =
        id === undefined || labels ? labels : withoutReserved(await cloche.statusWorkspace(id, { signal })).labels;
      const made = await cloche.createWorkspace({
        ...asked,
        ...seed,
        from_workspace: id,
        labels: owned.labelled(inherited),
        idempotency_key: key === undefined ? undefined : owned.key(key),
      });
      return withoutReserved(made);
    },
    async listWorkspaces(options: CallOptions = {}): Promise<WorkspaceList> {
      const workspaces = (await owned.list(options.signal)).map(withoutReserved);
      return { count: workspaces.length, workspaces };
    },
    async updateWorkspace(id, options) {
      refuseReserved([...Object.keys(options.labels ?? {}), ...(options.clear_labels ?? [])]);
      return withoutReserved(await cloche.updateWorkspace(await owned.find(id, options.signal), options));
    },
    async forkWorkspace(id, options = {}) {
      refuseReserved(Object.keys(options.labels ?? {}));
      const made = await cloche.forkWorkspace(await owned.find(id, options.signal), options);
      // A fork belongs to this server, also a fork of another's workspace.
      const labels = owned.labelled(undefined);
      return withoutReserved(await cloche.updateWorkspace(made.workspace_id, { labels }));
    },
    async startService(id, name, options) {
      const low = options.published_ports?.find(({ host_port: port = 0 }) => port > 0 && port < FREE_PORTS);
      // SECURITY: programs of the host trust who listens there (G-23)
      if (low)
        throw failure(
          "HOST_ACCESS_REFUSED",
          `Cannot publish on port ${String(low.host_port)} of the host: it is below ${FREE_PORTS}`,
          { hint: "Leave host_port out, and one is chosen" },
        );
      return await cloche.startService(await owned.find(id, options.signal), name, options);
    },
    async exportWorkspace(id, path, options) {
      const found = await owned.find(id, options.signal);
      return await cloche.exportWorkspace(found, path, { ...options, ...writes.output(options.output_path) });
    },
    async exportWorkspaceDisk(id, options) {
      const found = await owned.find(id, options.signal);
      return await cloche.exportWorkspaceDisk(found, { ...options, ...writes.output(options.output_path) });
    },
    async pushWorkspaceSync(id, source, options = {}) {
      const found = await owned.find(id, options.signal);
      const { path, read_scope } = reads.source(source);
      reads.checkInclude(options, read_scope);
      return await cloche.pushWorkspaceSync(found, path, { ...options, read_scope });
    },
    async run(options: RunOptions) {
      const alone = { from_workspace: undefined, idempotency_key: undefined, labels: owned.labelled(options.labels) };
      return await cloche.run({ ...within(options), ...alone });
    },
  };
}

/** Those below are of the system's services. */
const FREE_PORTS = 1024;

/** The project as it is seeded, which is the server's own and not the caller's to name. */
async function projectSeed(
  source: ProjectSource,
  reads: HostReads,
  { signal, onProgress }: CreateOptions,
): Promise<CreateOptions> {
  const seed = await source.seed({ signal, onProgress });
  if (seed === undefined) return {};
  const { path, ...origin } = seed;
  return { seed_path: path, read_scope: reads.projectScope(path), ...origin };
}
