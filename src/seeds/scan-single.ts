import { join } from "node:path";
import { failure } from "../model/error-codes.ts";
import { joined, parentOf, shown, toBytePath, type BytePath } from "./byte-path.ts";
import { emptyScan, FolderScanner, kindOf, realPath, type Scan } from "./scan.ts";
import { SourceChanged } from "./seed-errors.ts";

/** One file, or one link as itself, and where it really is. The file behind a link has its own name in the scan. */
export function scanSingle(path: string, isLink: boolean): { readonly scan: Scan; readonly real: BytePath } {
  const real = isLink ? ownPlace(path) : realPath(toBytePath(path));
  const [root, name] = [parentOf(real) || "/", real.slice(real.lastIndexOf("/") + 1)];
  const scan = emptyScan(root);
  const scanner = new FolderScanner(scan, "");
  const stat = scanner.look(name);
  if (stat === undefined) throw new SourceChanged(real);
  if (kindOf(stat) !== (isLink ? "symlink" : "file")) {
    throw failure("SEED_INVALID", `Cannot import "${shown(joined(root, name))}": it is no file, folder or link`);
  }
  scanner.take(name, stat);
  return { scan, real };
}

/** The folders on the way to a link are followed, the link is not. */
function ownPlace(path: string): BytePath {
  const bytes = toBytePath(path);
  return joined(realPath(toBytePath(join(path, ".."))), bytes.slice(bytes.lastIndexOf("/") + 1));
}
