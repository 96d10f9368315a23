import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { withInstallation } from "../helpers/installation.ts";
import { makeOwnCache } from "../helpers/own-cache.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const docker = useDockerEngine();

it("tells what a start waits for while an engine gets its environment, and nothing when it has it", async () => {
  await withInstallation(
    async (at) => {
      const importing = "importing host into the Docker engine\n";
      const first = await at.cli(["run", "host", "-v", "--", "echo", "hi"]);
      expect(first).toMatchObject({ code: 0, stdout: "hi\n", stderr: expect.stringContaining(importing) as string });
      const next = await at.cli(["workspace", "create", "host", "-v"]);
      expect(next.code).toBe(0);
      expect(next.stderr).not.toContain("importing");
    },
    { ...docker.engine.env, CLOCHE_BACKEND: "docker" },
  );
});

it("tells what a start waits for while smolvm gets its environment", async () => {
  const smolvm = new SmolvmStandIn();
  const cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-sp-")));
  await withInstallation(
    async (at) => {
      const words = ["workspace", "create", "debian:12", "--backend", "smolmachines", "-v"];
      expect(await at.cli(words)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("copying the environment for machines\n") as string,
      });
    },
    { ...smolvm.env, CLOCHE_CACHE: cache },
  );
  await smolvm.remove();
  await removeTree(cache);
});
