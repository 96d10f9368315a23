import { ClocheError, isClocheError } from "../base/errors.ts";
import type { Wall } from "../contracts/backend.ts";
import type { StoredSecret, StoredWorkspace } from "../contracts/store.ts";
import type { GuestFiles } from "../guest/files.ts";
import type { ErrorCode } from "../model/error-codes.ts";
import { call, COMMAND_LINES, hintWords, way } from "../model/hint.ts";
import { AGENT, type ExecutionMode } from "../model/names.ts";
import { LiveWorkspace } from "./live-workspace.ts";
import { isSecretOf } from "./secret-digest.ts";
import { SECRETS_FOLDER, Secrets } from "./secrets.ts";

const MAX_SECRET_BYTES = 65_536;

/** Puts them into memory-backed files that only the guest program may read. */
export async function provisionSecrets(live: LiveWorkspace): Promise<void> {
  await live.guest(); // with a connection its end is noticed, from the first moment on
  const { values } = live.secrets;
  if (values.size === 0) return;
  const files = await rootFiles(live);
  await Promise.all(
    [...values].map(([name, value]) =>
      files.write("system", `${SECRETS_FOLDER}/${name}`, Buffer.from(value), { mode: 0o400 }),
    ),
  );
}

export interface SecretsSource {
  readonly wall: Wall;
  readonly executionMode: ExecutionMode;
  readonly known: Secrets;
  /** Whether the sandbox may be without it. */
  readonly mayLack: (secret: StoredSecret) => boolean;
}

/**
 * Those of a workspace that are not known are looked for in its sandbox's memory, where an earlier daemon put them. Throws `ChangedSecret` when one of them is not
 * what was put there: its commands may print the real value, and nobody would know it.
 */
export async function recoverSecrets(
  { workspaceId, limits, secrets }: StoredWorkspace,
  { wall, executionMode, known, mayLack }: SecretsSource,
): Promise<Secrets> {
  const missing = secrets.filter(({ name }) => !known.values.has(name));
  if (missing.length === 0) return known;
  const onLost = () => undefined;
  const bare = new LiveWorkspace({
    workspaceId,
    wall,
    executionMode,
    limits,
    hasEgress: false,
    secrets: known,
    onLost,
  });
  try {
    const files = await rootFiles(bare);
    const values = new Map(known.values);
    for (const secret of missing) {
      const { name, digest } = secret;
      const value = await readIfThere(files, `${SECRETS_FOLDER}/${name}`);
      if (value === undefined && mayLack(secret)) continue;
      // SECURITY: what a sandbox gives back may be its own invention (G-17)
      if (value === undefined || !(await isSecretOf(digest, value))) throw new ChangedSecret(workspaceId, name);
      values.set(name, value);
    }
    return new Secrets(values);
  } finally {
    await bare.release();
  }
}

export class ChangedSecret extends ClocheError {
  constructor(workspaceId: string, name: string) {
    const message = `Secret "${name}" was changed in the sandbox of workspace ${workspaceId}`;
    const start = call("startWorkspace", { workspace_id: workspaceId });
    const advice = [way`${start} starts it again with its files and without the secret`];
    super("SANDBOX_LOST" satisfies ErrorCode, message, hintWords(advice, COMMAND_LINES), { advice });
  }
}

/** Undefined for what is no file. */
async function readIfThere(files: GuestFiles, path: string): Promise<string | undefined> {
  try {
    return (await files.readAll("system", path, { maxBytes: MAX_SECRET_BYTES })).content.toString("utf8");
  } catch (error) {
    const codes: readonly string[] = ["FILE_NOT_FOUND", "FILE_WRONG_TYPE", "FILE_FAILED", "PATH_OUTSIDE_WORKSPACE"];
    if (isClocheError(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** File work as the sandbox's root, where it has one. */
export async function rootFiles(live: LiveWorkspace): Promise<GuestFiles> {
  const { hello } = await live.guest();
  return await live.files(hello.canChangeUser ? { uid: 0, gid: 0 } : AGENT);
}
