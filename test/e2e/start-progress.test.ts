import { expect, it } from "vitest";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { withInstallation } from "../helpers/installation.ts";

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
