import { readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServedDoors, ServedGit } from "../contracts/gates.ts";

const LINK = /^to-\d+$/;

/**
 * Names the places of this host that a gate may have its keeper connect it to: link `to-0` leads to the guest program's socket, `to-PORT` to where the door at that
 * port leads. The gate cannot change them.
 */
export function writeLinks(folder: string, { guestSocket, doors }: Pick<ServedDoors, "guestSocket" | "doors">): void {
  const wanted = new Map<string, string>();
  if (guestSocket !== null) wanted.set("to-0", guestSocket);
  for (const { port, to } of doors) if (to.kind === "unix") wanted.set(`to-${port}`, to.path);
  for (const name of readdirSync(folder)) {
    if (!LINK.test(name)) continue;
    const path = join(folder, name);
    if (readlinkSync(path) === wanted.get(name)) wanted.delete(name);
    else if (!wanted.has(name)) rmSync(path);
  }
  for (const [name, target] of wanted) {
    const fresh = join(folder, `${name}.new`);
    rmSync(fresh, { force: true });
    symlinkSync(target, fresh);
    renameSync(fresh, join(folder, name));
  }
}

const PROGRAM_FILE = /^(?:run|git)-/;

/** Writes down what the keeper runs for a gate, and the files that these programs read; what is no longer wanted goes. The gate can neither read nor change them. */
export function writePrograms(folder: string, { programs, files }: Omit<ServedGit, "order">): void {
  const wanted = new Map(Object.entries(files).map(([name, text]) => [`git-${name}`, text]));
  const words = (list: readonly string[]) =>
    list.map((word) => `${word.replaceAll("{files}", `${folder}/git-`)}\0`).join("");
  for (const { place, argv, env } of programs)
    wanted.set(
      `run-${place}`,
      `${words(argv)}\0${words(Object.entries(env).map(([name, value]) => `${name}=${value}`))}\0`,
    );
  for (const name of readdirSync(folder)) if (PROGRAM_FILE.test(name) && !wanted.has(name)) rmSync(join(folder, name));
  for (const [name, text] of wanted) {
    writeFileSync(join(folder, `${name}.new`), text, { mode: 0o600 });
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
}
