import { readdirSync } from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";

const ALTERNATES: ReadonlySet<BytePath> = new Set(["info/alternates", "info/http-alternates"]);

/**
 * Whether an object store is more than its own files.
 * SECURITY: git reads through alternates and links, and who knows a commit's hash can name it in a branch; a folder from elsewhere
 * could so bring the content of any repository of the host into the sandbox (G-01). A lender does not know its borrowers, so a clone
 * of the user's own (`git clone --shared`) cannot be told from a theft. Neither brings its history: the files are imported and `.git`
 * stays home. Its own part alone would be a broken repository. Where alternates lead is not asked, since those there lead on.
 */
export function borrowsObjects(objects: BytePath): boolean {
  const pending: BytePath[] = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of entriesMaybe(joined(objects, folder))) {
      const path = joined(folder, entry.name);
      if (ALTERNATES.has(path)) return true;
      if (entry.isDirectory()) pending.push(path);
      else if (!entry.isFile()) return true;
    }
  }
  return false;
}

function entriesMaybe(folder: BytePath) {
  try {
    return readdirSync(toFs(folder), { encoding: "latin1", withFileTypes: true });
  } catch (error) {
    const failed = sourceFailure(folder, error);
    if (failed instanceof SourceChanged) return []; // git removes folders that it emptied
    throw failed;
  }
}
