import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { buildOnce, type Builder } from "./build-once.ts";
import { type BuildContext, type BuildManner, digestOf } from "./definition.ts";
import { installPackage } from "./program-package.ts";
import { addFile, addFolder, addLink } from "./system-files.ts";
import { takeHostFiles } from "./host-program-files.ts";
import { walkTree } from "../base/walk-tree.ts";
import { addedProgram, ADDED_PROGRAMS, type ProgramFiles, type ProgramSource } from "../contracts/environment.ts";
import { failure } from "../model/error-codes.ts";
import { tryBuildLock } from "../walls/build-lock.ts";

/** Programs that can be added to environments: `bin/COMMAND`, and the files of each in a folder beside it. Built once, in a cache of their own. */
export class Programs {
  readonly #builder: Builder;

  constructor(builder: Builder) {
    this.#builder = builder;
  }

  /** Its name here, by which `find` has it. */
  async ensure(source: ProgramSource, how: BuildManner): Promise<string> {
    const digest = digestOf(
      "program",
      source.command,
      await stampOf(source.files),
      source.interpreter && [source.interpreter.command, await stampOf(source.interpreter.files)],
    );
    const name = `${source.command}-${source.version ?? "host"}-${digest.slice(0, 12)}`;
    await buildOnce(this.#builder, { name, build: (context) => buildProgram(source, context) }, digest, how);
    return name;
  }

  /** The folder with the files of one. */
  async find(name: string): Promise<string> {
    const [built] = await this.#builder.cache.all(name);
    if (built) return built.root;
    throw failure("ENVIRONMENT_NOT_FOUND", `The program "${name}" is not in the cache any more`, {
      hint: "Start its agent anew with `cloche start`, which gets the program again",
    });
  }

  /** Removes those that are not needed. */
  async prune(needed: ReadonlySet<string>, dryRun: boolean) {
    const { cache } = this.#builder;
    const removed: { name: string; size_bytes: number; digest: string }[] = [];
    for (const name of (await cache.names()).filter((one) => !needed.has(one))) {
      const lock = await tryBuildLock(cache.lockFile(name));
      try {
        for (const built of lock ? await cache.all(name) : []) {
          if (!dryRun) await cache.remove(built);
          removed.push({ name: `program ${name}`, size_bytes: built.size_bytes, digest: built.digest });
        }
      } finally {
        await lock?.release();
      }
    }
    return removed;
  }
}

/** Differs when the files differ. Without the time of the last change of an inode: a further name for a file changes that. */
async function stampOf(files: ProgramFiles): Promise<unknown> {
  if ("package" in files) return files.package;
  const stamp = ({ size, mtimeMs, ino, mode }: { size: number; mtimeMs: number; ino: number; mode: number }) => [
    size,
    mtimeMs,
    ino,
    mode,
  ];
  const own = await lstat(files.path);
  const inside: unknown[] = [];
  if (own.isDirectory())
    for await (const { path, stats } of walkTree(files.path)) inside.push([path, stats.isFile() ? stamp(stats) : null]);
  return [files.path, files.file, own.isDirectory() ? inside.sort() : stamp(own)];
}

async function buildProgram({ command, files, interpreter }: ProgramSource, context: BuildContext): Promise<void> {
  const { rootfs, idMap } = context;
  for (const folder of ["bin", "programs"]) await addFolder(rootfs, folder, 0o755, idMap);
  const file = await place(command, files, context);
  if (!interpreter) {
    await addLink(rootfs, `bin/${command}`, `../${file}`, idMap);
    return;
  }
  const runner = await place(interpreter.command, interpreter.files, context);
  await addLink(rootfs, `bin/${interpreter.command}`, `../${runner}`, idMap);
  const script = `#!/bin/sh\nexec ${addedProgram(interpreter.command)} ${ADDED_PROGRAMS}/${file} "$@"\n`;
  await addFile(rootfs, `bin/${command}`, script, 0o755, idMap);
}

/** Puts the files into a folder of the command's name, and gives the program's own path. */
async function place(command: string, files: ProgramFiles, context: BuildContext): Promise<string> {
  const { rootfs, idMap } = context;
  const folder = `programs/${command}`;
  await addFolder(rootfs, folder, 0o755, idMap);
  if ("package" in files) {
    await installPackage(files.package, join(rootfs, folder), context);
    return `${folder}/${files.package.file}`;
  }
  context.progress({ step: `taking ${command} of this host` });
  await takeHostFiles(files.path, join(rootfs, folder), context);
  return `${folder}/${files.file}`;
}
