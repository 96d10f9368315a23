import { runBuildCommand } from "./build-process.ts";
import { digestOf, type BuildContext, type EnvironmentDefinition, type EnvironmentFamily } from "./definition.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { exportImage } from "./docker-image.ts";
import { walkTree } from "../base/walk-tree.ts";
import { errnoOf } from "../base/errors.ts";
import { CacheImages } from "../docker-engine/cache-images.ts";
import { DockerEngine } from "../docker-engine/engine.ts";
import { failure } from "../model/error-codes.ts";
import { readFile } from "node:fs/promises";
import { statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

/**
 * `dockerfile:FOLDER`: built by `docker build` from that folder's Dockerfile, again whenever a file in the folder has changed. By the command and not by the
 * Engine API, because the command knows `.dockerignore`, BuildKit and the passwords of registries.
 */
export const dockerfileFamily = (cachePath: string, env: NodeJS.ProcessEnv = process.env): EnvironmentFamily => ({
  prefix: "dockerfile:",
  form: "dockerfile:FOLDER",
  define: (name) => createDockerfileDefinition({ name, folder: name.slice("dockerfile:".length), cachePath, env }),
});

interface DockerfileOptions {
  readonly name: string;
  readonly folder: string;
  readonly cachePath: string;
  readonly env: NodeJS.ProcessEnv;
}

function createDockerfileDefinition(options: DockerfileOptions): EnvironmentDefinition {
  const { name, folder } = options;
  const digest = async () => {
    requireDockerfile(folder);
    return digestOf("dockerfile", await contentsOf(folder));
  };
  return {
    name,
    description: `Built from ${join(folder, "Dockerfile")}`,
    packages: [],
    hostFolders: () => NO_HOST_FOLDERS,
    digest,
    build: async (context) => buildDockerfile(options, await digest(), context),
  };
}

function requireDockerfile(folder: string): void {
  if (!isAbsolute(folder)) {
    throw failure("INVALID_ARGUMENT", `The environment's folder "${folder}" is no absolute path`, {
      hint: "Give the whole path: dockerfile:/path/to/folder",
    });
  }
  if (statSync(join(folder, "Dockerfile"), { throwIfNoEntry: false })?.isFile()) return;
  throw failure("ENVIRONMENT_NOT_FOUND", `There is no Dockerfile in "${folder}"`, {
    hint: "Name the folder that holds the Dockerfile: dockerfile:/path/to/folder",
  });
}

/** Names, modes, sizes and times: reading everything at each use would take too long. */
async function contentsOf(folder: string): Promise<unknown[]> {
  const contents: unknown[] = [];
  try {
    for await (const { path, stats } of walkTree(folder)) {
      const name = relative(folder, path);
      if (name !== ".git" && !name.startsWith(".git/"))
        contents.push([name, stats.mode, stats.isDirectory() ? 0 : [stats.size, stats.mtimeMs]]);
    }
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error; // it is being changed: built as it is, and again when it is whole
  }
  return contents.sort();
}

async function buildDockerfile(
  { name, folder, cachePath, env }: DockerfileOptions,
  digest: string,
  context: BuildContext,
): Promise<void> {
  const { scratch, idMap, progress, signal, network } = context;
  const engine = DockerEngine.current(env);
  const idFile = join(scratch, "image-id");
  // Named, so that it can be told apart from images of others. The last one stays: without BuildKit its steps are what the next build need not do again.
  const images = new CacheImages({ cachePath, kind: idMap.kind, repository: "cloche/dockerfile" });
  const labels = Object.entries(images.labels(name)).flatMap(([label, value]) => ["--label", `${label}=${value}`]);
  const tag = ["--tag", images.reference({ name, digest })];
  // SECURITY: the steps run behind no wall of ours; unless the user asks for it, they have no network (G-23)
  const closed = network ? [] : ["--network", "none"];
  progress({ step: `building the Dockerfile${network ? "" : ", without a network"}` });
  await runBuildCommand({
    argv: ["docker", "build", "--force-rm", "--iidfile", idFile, ...closed, ...tag, ...labels, folder],
    env: { ...dockerVariables(env), PATH: env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
    onLine: (line) => {
      const step = /^(?:Step \d+\/\d+ : |#\d+ \[[^\]]+\] )(.+)$/.exec(line)?.[1];
      if (step !== undefined) progress({ step });
    },
    stepOutput,
    environment: name,
    suspicion: network
      ? ""
      : `Its steps have no network unless built with \`cloche env pull ${name} --build-network\`. `,
    signal,
    packages: "docker.io",
  });
  await exportImage(engine, (await readFile(idFile, "utf8")).trim(), context, env);
  // The environment is whole; what cannot be removed now goes with the next build or prune.
  await images.removeOlder(engine, { name, digest }).catch(() => undefined);
}

/** What a step prints comes on standard output among lines of the builder's own, and from BuildKit on standard error, with a number and a time. */
export function stepOutput(line: string, from: "stdout" | "stderr"): string | undefined {
  if (from === "stderr") return /^#\d+ \d+\.\d+ (.*)$/.exec(line)?.[1];
  return /^(Step \d+\/\d+ : | ---> |Sending build context |Removing intermediate container )/.test(line)
    ? undefined
    : line;
}

/** Where the engine is, and where the passwords of its registries are. */
function dockerVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value && (name === "HOME" || name.startsWith("DOCKER_"))),
  );
}
