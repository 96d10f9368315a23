import type { BuildContext, EnvironmentDefinition, EnvironmentFamily } from "./definition.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { digestOf } from "./definition.ts";
import { unpackRootfs } from "./rootfs-tar.ts";
import { randomName } from "../base/ids.ts";
import { DockerEngine } from "../docker-engine/engine.ts";
import { EngineRefusal, isRefusal } from "../docker-engine/engine-failure.ts";
import { failure } from "../model/error-codes.ts";
import { createWriteStream, existsSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** The builder's folder, on a container that is made for an export only: one whose builder is gone is removed by the next. */
const EXPORT = "cloche.export";
const NAME_PREFIX = "cloche-export-";

/**
 * `docker:IMAGE`: the file system of an image that the Docker engine has. It is taken out once for each content, so every backend can use it. Images are
 * not pulled: the engine's own command knows the registry and its passwords.
 */
export const dockerImageFamily = (env: NodeJS.ProcessEnv = process.env): EnvironmentFamily => ({
  prefix: "docker:",
  form: "docker:IMAGE",
  define: (name) => createDockerImageDefinition(name, name.slice("docker:".length), env),
});

function createDockerImageDefinition(name: string, reference: string, env: NodeJS.ProcessEnv): EnvironmentDefinition {
  const imageId = async (): Promise<string> => {
    const image = /^[\w.:/@-]+$/.test(reference) ? await findImage(DockerEngine.current(env), reference) : undefined;
    if (image) return image.Id;
    throw failure("ENVIRONMENT_NOT_FOUND", `The Docker engine has no image "${reference}"`, {
      hint: `Get it with \`docker pull ${reference}\`, or see \`docker images\` for those it has`,
    });
  };
  return {
    name,
    description: `The image ${reference} of the Docker engine`,
    packages: [],
    hostFolders: () => NO_HOST_FOLDERS,
    digest: async () => digestOf("docker-image", await imageId()),
    build: async (context) => exportImage(DockerEngine.current(env), await imageId(), context, env),
  };
}

async function findImage(engine: DockerEngine, reference: string) {
  try {
    return await engine.findImage(reference);
  } catch (error) {
    if (isRefusal(error, 400)) return undefined; // the engine cannot read it as a reference
    throw asBuildFailure(error);
  }
}

/** Takes the file system of an image out of the engine, through a container that never runs. */
export async function exportImage(
  engine: DockerEngine,
  imageId: string,
  context: BuildContext,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { scratch, progress, signal } = context;
  const tar = join(scratch, "rootfs.tar");
  try {
    progress({ step: "exporting the image" });
    await removeAbandoned(engine);
    const body = { Image: imageId, Entrypoint: ["/"], Cmd: [], Labels: { [EXPORT]: scratch }, NetworkDisabled: true };
    const container = await engine.createContainer(`${NAME_PREFIX}${randomName(10)}`, body);
    try {
      await pipeline(await engine.exportContainer(container, signal), createWriteStream(tar, { mode: 0o600 }), {
        ...(signal && { signal }),
      });
    } finally {
      await engine.removeContainer(container);
    }
  } catch (error) {
    throw asBuildFailure(error);
  }
  await unpackRootfs(tar, context, { PATH: env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" });
}

async function removeAbandoned(engine: DockerEngine): Promise<void> {
  for (const { Id, Labels } of await engine.listContainers({ [EXPORT]: undefined }, NAME_PREFIX))
    if (!existsSync(Labels[EXPORT] ?? "")) await engine.removeContainer(Id);
}

const asBuildFailure = (error: unknown): unknown =>
  error instanceof EngineRefusal
    ? failure("ENVIRONMENT_BUILD_FAILED", `Cannot take the image out of the Docker engine: ${error.message}`, {
        hint: "See the engine's own log (journalctl -u docker), then try again",
        cause: error,
      })
    : error;
