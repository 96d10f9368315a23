import { placesFrom } from "../../src/base/paths.ts";
import { EnvironmentCache } from "../../src/environments/environment-cache.ts";
import { withInstallation } from "./installation.ts";

/** The folder of the environment `debian:12` as root has built it, in the cache that the tests share. */
export async function builtDebian(): Promise<string> {
  const { cache } = placesFrom(process.env);
  await withInstallation(async ({ sdk }) => {
    await sdk.pullEnvironment("debian:12");
  });
  const [built] = await new EnvironmentCache(cache, "shifted").all("debian:12");
  if (!built) throw new Error(`There is no debian:12 in ${cache}`);
  return built.folder;
}
