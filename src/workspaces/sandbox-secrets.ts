import { isClocheError } from "../base/errors.ts";
import type { Wall } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { GuestFiles } from "../guest/files.ts";
import { AGENT, type ExecutionMode } from "../model/names.ts";
import { LiveWorkspace } from "./live-workspace.ts";
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

/** Those of a workspace that are not known are looked for in its sandbox's memory, where an earlier daemon put them. */
export async function recoverSecrets(
  { workspaceId, limits, secrets }: StoredWorkspace,
  { wall, executionMode, known }: { wall: Wall; executionMode: ExecutionMode; known: Secrets },
): Promise<Secrets> {
  const missing = secrets.filter(({ name }) => !known.values.has(name));
  if (missing.length === 0) return known;
  const onLost = () => undefined;
  const bare = new LiveWorkspace({ workspaceId, wall, executionMode, limits, secrets: known, onLost });
  try {
    const files = await rootFiles(bare);
    const values = new Map(known.values);
    for (const { name } of missing) {
      const value = await readIfThere(files, `${SECRETS_FOLDER}/${name}`);
      if (value !== undefined) values.set(name, value);
    }
    return new Secrets(values);
  } finally {
    await bare.release();
  }
}

/** One that was lost before is in no sandbox. */
async function readIfThere(files: GuestFiles, path: string): Promise<string | undefined> {
  try {
    return (await files.readAll("system", path, { maxBytes: MAX_SECRET_BYTES })).content.toString("utf8");
  } catch (error) {
    if (isClocheError(error) && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** File work as the sandbox's root, where it has one. */
async function rootFiles(live: LiveWorkspace): Promise<GuestFiles> {
  const { hello } = await live.guest();
  return await live.files(hello.canChangeUser ? { uid: 0, gid: 0 } : AGENT);
}
