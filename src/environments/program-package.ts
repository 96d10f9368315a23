import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { runBuildCommand } from "./build-process.ts";
import type { BuildContext } from "./definition.ts";
import { unpackTar } from "./rootfs-tar.ts";
import { walkTree } from "../base/walk-tree.ts";
import { failure } from "../model/error-codes.ts";
import type { ProgramPackage } from "../model/provider.ts";

/** Gets a package of the npm registry and unpacks it into a folder. No script of it runs. */
export async function installPackage(wanted: ProgramPackage, folder: string, context: BuildContext): Promise<void> {
  const { scratch, progress, signal } = context;
  const spec = `${wanted.name}@${wanted.version}`;
  const downloads = join(scratch, "package");
  await mkdir(downloads);
  progress({ step: `downloading ${spec}` });
  await fetchPackage(spec, downloads, signal);
  const [name = ""] = await readdir(downloads);
  const tar = join(downloads, name);
  await requireIntegrity(tar, wanted);
  progress({ step: `unpacking ${spec}` });
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  await unpackTar(tar, folder, context, env, ["--gzip", "--strip-components=1", "--no-same-owner"]);
  await rm(downloads, { recursive: true });
  await settle(folder, wanted);
}

/** By npm itself: it knows the registry, the proxy, the authority and the password that this host uses. */
async function fetchPackage(spec: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const words = ["--loglevel=error", "--ignore-scripts", "--prefer-offline", "--pack-destination", folder];
  const said: string[] = [];
  try {
    await runBuildCommand({
      argv: ["npm", "pack", ...words, "--", spec],
      env: npmVariables(process.env),
      onLine: (line) => said.push(line),
      signal,
      packages: "npm",
    });
  } catch (error) {
    const reason = said
      .map((line) => /^npm error (?!code |A complete log)(?:[a-z0-9]+ )?(.+)$/.exec(line)?.[1])
      .find(Boolean);
    if (reason === undefined) throw error;
    throw failure("ENVIRONMENT_BUILD_FAILED", `Cannot get ${spec} from the npm registry: ${reason}`, {
      hint: `See \`npm view ${spec}\` and \`npm config get registry\`, or use an environment that has the program`,
      cause: error,
    });
  }
}

/** SECURITY: what is installed is what the provider names, to the byte, whoever runs the registry or stands before it (G-76) */
async function requireIntegrity(tar: string, { name, version, integrity }: ProgramPackage): Promise<void> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(tar), hash);
  if (`sha512-${hash.digest("base64")}` === integrity) return;
  throw failure("ENVIRONMENT_BUILD_FAILED", `The package ${name}@${version} is not the one that its provider names`, {
    hint: "The registry, or something before it, serves another one. See `npm config get registry`",
  });
}

/** Files and folders that everybody may read and nobody may change. SECURITY: no link, no device, no other identity (G-06, G-76) */
async function settle(folder: string, { name, version, file }: ProgramPackage): Promise<void> {
  for await (const { path, stats } of walkTree(folder)) {
    if (stats.isDirectory() || (stats.isFile() && stats.mode & 0o111)) await chmod(path, 0o755);
    else if (stats.isFile()) await chmod(path, 0o644);
    else await rm(path);
  }
  const program = join(folder, file);
  const found = await lstat(program).catch(() => undefined);
  if (found?.isFile()) {
    await chmod(program, 0o755);
    return;
  }
  throw failure("ENVIRONMENT_BUILD_FAILED", `The package ${name}@${version} has no file "${file}"`, {
    hint: "Correct `packages` of the provider's program",
  });
}

/** What npm needs of the user's: where its configuration is, and the way out. */
function npmVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = /^(HOME|USER|XDG_.*|(https?|no)_proxy|npm_config_.*|NODE_EXTRA_CA_CERTS)$/i;
  const kept = Object.entries(env).filter(([name, value]) => value && names.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: env["PATH"] ?? "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    npm_config_update_notifier: "false",
  };
}
