import { runBuildCommand } from "./build-process.ts";
import { digestOf, type BuildContext, type EnvironmentDefinition, type EnvironmentFamily } from "./definition.ts";
import { exportImage } from "./docker-image.ts";
import { walkTree } from "../base/walk-tree.ts";
import { errnoOf } from "../base/errors.ts";
import { DockerEngine } from "../docker-engine/engine.ts";
import { failure } from "../model/error-codes.ts";
import { readFile } from "node:fs/promises";
import { statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

/**
 * `dockerfile:FOLDER`: built by `docker build` from that folder's Dockerfile, again whenever a file in the folder has changed. By the command and not by the
 * Engine API, because the command knows `.dockerignore`, BuildKit and the passwords of registries.
 */
export const dockerfileFamily = (env: NodeJS.ProcessEnv = process.env): EnvironmentFamily => ({
  prefix: "dockerfile:",
  form: "dockerfile:FOLDER",
  define: (name) => createDockerfileDefinition(name, name.slice("dockerfile:".length), env),
});

function createDockerfileDefinition(name: string, folder: string, env: NodeJS.ProcessEnv): EnvironmentDefinition {
  return {
    name,
    description: `Built from ${join(folder, "Dockerfile")}`,
    packages: [],
    hostPaths: () => [],
    digest: async () => {
      requireDockerfile(folder);
      return digestOf("dockerfile", await contentsOf(folder));
    },
    build: (context) => buildDockerfile(folder, context, env),
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

async function buildDockerfile(folder: string, context: BuildContext, env: NodeJS.ProcessEnv): Promise<void> {
  const { scratch, progress, signal } = context;
  const engine = DockerEngine.current(env);
  const idFile = join(scratch, "image-id");
  progress({ step: "building the Dockerfile" });
  await runBuildCommand({
    argv: ["docker", "build", "--iidfile", idFile, "--label", "cloche.dockerfile=1", folder],
    env: { ...dockerVariables(env), PATH: env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
    onLine: (line) => {
      const step = /^(?:Step \d+\/\d+ : |#\d+ \[[^\]]+\] )(.+)$/.exec(line)?.[1];
      if (step !== undefined) progress({ step });
    },
    signal,
    packages: "docker.io",
  });
  await exportImage(engine, (await readFile(idFile, "utf8")).trim(), context, env);
}

/** Where the engine is, and where the passwords of its registries are. */
function dockerVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value && (name === "HOME" || name.startsWith("DOCKER_"))),
  );
}
