import type { ExecResult } from "../model/exec.ts";
import type { Workspace } from "../model/workspace.ts";
import type {
  CommandStream,
  CreateOptions,
  ExecOptions,
  OpenCommandOptions,
  OpenRunOptions,
  RunOptions,
  RunResult,
  RunStream,
} from "./options.ts";

/** What `run` needs of the client; said here, because importing the client would be a cycle. */
interface Client {
  createWorkspace(options: CreateOptions): Promise<Workspace>;
  deleteWorkspace(workspaceId: string): Promise<unknown>;
  execWorkspace(workspaceId: string, options: ExecOptions): Promise<ExecResult>;
  openCommand(workspaceId: string, options: OpenCommandOptions): CommandStream;
}

/** A workspace whose command runs is never reaped; so this is how long one stays whose client was killed before it could delete it. */
const ABANDONED_AFTER_SECONDS = 60;

/** Create, exec, delete. The workspace goes also when the command failed or the caller aborted. */
export async function runToEnd(client: Client, options: RunOptions): Promise<RunResult> {
  const { create, exec } = split(options);
  const { workspace_id: id, workspace_seed } = await client.createWorkspace(create);
  let result: ExecResult;
  try {
    result = await client.execWorkspace(id, exec);
  } catch (error) {
    await deleteQuietly(client, id);
    throw error;
  }
  await client.deleteWorkspace(id);
  return { ...result, workspace_seed };
}

export async function openRunStream(client: Client, options: OpenRunOptions): Promise<RunStream> {
  const { create, exec } = split(options);
  const { workspace_id: id, workspace_seed } = await client.createWorkspace(create);
  const stream = client.openCommand(id, exec);
  const result = stream.result.then(
    async (value) => {
      await client.deleteWorkspace(id);
      return { ...value, workspace_seed };
    },
    async (error: unknown) => {
      await deleteQuietly(client, id);
      throw error;
    },
  );
  // The caller may only look at it later, or never.
  result.catch(() => undefined);
  const close = async () => {
    await stream.close();
    await result.catch(() => undefined);
  };
  return {
    workspace_seed,
    sequence: stream.sequence,
    result,
    output: () => stream.output(),
    write: (data) => stream.write(data),
    endInput: () => stream.endInput(),
    signal: (name) => stream.signal(name),
    resize: (size) => stream.resize(size),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The first error is the one to tell; a workspace that could not be deleted is left to its time to live. */
async function deleteQuietly(client: Client, id: string): Promise<void> {
  try {
    await client.deleteWorkspace(id);
  } catch {
    // see above
  }
}

function split(options: OpenRunOptions): { create: CreateOptions; exec: OpenCommandOptions } {
  const { command, timeout_seconds, cwd, env, secret_env, stdin, pty, onProgress, signal, ...create } = options;
  return {
    // Nobody comes back for it, so it goes when its time is over, whatever the command has written.
    create: { ttl_seconds: ABANDONED_AFTER_SECONDS, grace_seconds: 0, ...create, onProgress, signal },
    exec: { command, timeout_seconds, cwd, env, secret_env, stdin, pty, signal },
  };
}
