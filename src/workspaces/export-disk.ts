import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { TreeItem } from "../guest/tree.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { DiskExported } from "../model/files.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Dependencies } from "./dependencies.ts";
import { moveIntoPlace, writeExport } from "./export-writer.ts";
import { holdScratch, type HeldScratch } from "./held-scratch.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { inOutputFolder } from "./output-folder.ts";
import { roomFor, withinRoom } from "./room.ts";
import { tarBytes } from "./tar-bytes.ts";
import { withoutGit } from "./without-git.ts";

const run = promisify(execFile);
/** Room in an image beside the files: inodes, directories, the journal. */
const IMAGE_SLACK = 1.3;
const IMAGE_MIN_BYTES = 16 * 1024 * 1024;

/** The whole of `/workspace` of a stopped workspace in one file: a tar, or an ext4 image where `mke2fs` is there. */
export async function exportDisk(
  deps: Dependencies,
  live: LiveWorkspace,
  input: OperationInput<"exportWorkspaceDisk">,
): Promise<DiskExported> {
  const { output_path: output, cautious, format = "tar" } = input;
  return await inOutputFolder(output, cautious, async (folder) => {
    const place = join(folder, basename(output));
    await refuseExisting(output, place);
    return await deps.scratch.beside(output, async (noted) => {
      await using held = openScratch(join(folder, basename(noted)), output);
      try {
        const file = join(held.path, "disk");
        const files = (await live.files()).treeOut("workspace", "");
        const items = cautious ? withoutGit(files) : files;
        await (format === "tar" ? writeTar(items, file, place) : writeImage(items, file, join(held.path, "tree")));
        const { size } = await stat(file);
        await moveIntoPlace(file, output, "file", place);
        deps.events.record({ kind: "disk.exported", workspace_id: live.workspaceId, output_path: output });
        return { workspace_id: live.workspaceId, output_path: output, format, size_bytes: size };
      } catch (error) {
        if (errnoOf(error) === "ENOSPC")
          throw failure("DISK_FULL", `Cannot export to "${output}": no space is left`, { cause: error });
        throw error;
      }
    });
  });
}

function openScratch(scratch: string, output: string): HeldScratch {
  try {
    return holdScratch(scratch);
  } catch (error) {
    throw failure("OUTPUT_INVALID", `Cannot export to "${output}": ${messageOf(error)}`, { cause: error });
  }
}

async function writeTar(items: AsyncIterable<TreeItem>, file: string, output: string): Promise<void> {
  await pipeline(tarBytes(withinRoom(items, roomFor(output))), createWriteStream(file, { flags: "wx", mode: 0o600 }));
}

async function writeImage(items: AsyncIterable<TreeItem>, file: string, tree: string): Promise<void> {
  // In the image the links are those of the image.
  const { bytes, entries } = await writeExport(withinRoom(items, roomFor(tree)), tree, { links: "keep" });
  const size = Math.max(IMAGE_MIN_BYTES, Math.ceil((bytes + entries * 4096) * IMAGE_SLACK));
  try {
    await run("mke2fs", ["-q", "-t", "ext4", "-d", tree, file, `${Math.ceil(size / 1024)}k`], {
      env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    });
  } catch (error) {
    const missing = errnoOf(error) === "ENOENT";
    throw failure(
      "NOT_SUPPORTED",
      `Cannot make an ext4 image: ${missing ? "mke2fs is not installed" : messageOf(error)}`,
      {
        hint: [...(missing ? [way`Install it: apt-get install e2fsprogs`] : []), way`use ${argument("format", "tar")}`],
        cause: error,
      },
    );
  }
}

async function refuseExisting(output: string, place: string): Promise<void> {
  const found = await lstat(place).catch(() => undefined);
  if (found) throw failure("OUTPUT_EXISTS", `Cannot export to "${output}": it exists`);
}
