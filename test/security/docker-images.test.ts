import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { type Installation, runProcess, withInstallation } from "../helpers/installation.ts";

const docker = useDockerEngine();
const IMAGE = "example/hostile:1";

/** Runs with an image in the engine that has a shell and whatever `script`, run in its root folder, adds to it. */
async function withImage(
  script: (at: Installation) => string,
  body: (at: Installation) => Promise<void>,
): Promise<void> {
  const cache = mkdtempSync(join(tmpdir(), "cl-cache-"));
  chmodSync(cache, 0o755); // the ids of a sandbox are nobody here and must get through
  try {
    await withInstallation(
      async (at) => {
        const build = `set -e
          mkdir -p i/bin i/etc && cd i
          for name in sh cat id ls; do
            cp -L "$(command -v $name)" bin/$name
            ldd bin/$name | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} .
          done
          ${script(at)}
          tar --numeric-owner -c . | docker import - ${IMAGE}`;
        const { code, stderr } = await runProcess("sh", ["-c", build], { cwd: at.root, env: at.env });
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        await body(at);
      },
      { ...docker.engine.env, CLOCHE_CACHE: cache },
    );
  } finally {
    await removeTree(cache);
  }
}

describe("an image that was made to attack the host", () => {
  it("G-01 links in the place of the system's files bring no file of the host into the environment", async () => {
    await withImage(
      (at) => `echo root:canary:0:0::: > ${at.path("secret")}; chmod 600 ${at.path("secret")}
        ln -s ${at.path("secret")} etc/passwd; ln -s ${at.path("secret")} etc/group
        ln -s ${at.path("secret")} etc/hosts; ln -s ${at.path("secret")} etc/resolv.conf; ln -s ${at.path("secret")} etc/hostname`,
      async ({ sdk }) => {
        for (const backend of ["docker", "container"]) {
          const { workspace_id: id } = await sdk.createWorkspace({ environment: `docker:${IMAGE}`, backend });
          const { stdout } = await sdk.execWorkspace(id, {
            command: ["/bin/cat", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname"],
          });
          expect(stdout).toContain("agent:x:1000:1000");
          expect(stdout).not.toContain("canary");
        }
      },
    );
  });

  it("G-21 its labels do not make anything of somebody else's cloche's to remove", async () => {
    await withImage(
      () => "echo one > etc/version",
      async (at) => {
        const hashOf = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 10);
        const [home, cache] = [hashOf(at.home), hashOf(realpathSync(at.env["CLOCHE_CACHE"] ?? ""))];
        const theirs = `theirs:1-shifted-${cache}`; // ends as ours do
        const labels = {
          "cloche.home": home,
          "cloche.workspace": "ws-0",
          "cloche.directory": "/nowhere",
          "cloche.export": "/nowhere",
          "cloche.environment": `docker:${IMAGE}`,
          "cloche.cache": cache,
        };
        const changes = Object.entries(labels).flatMap(([name, value]) => ["--change", `LABEL ${name}=${value}`]);
        const tar = at.path("other.tar");
        await docker.engine.docker("save", "-o", tar, IMAGE); // any tar will do as a file system
        for (const tag of [theirs, IMAGE]) await docker.engine.docker("import", ...changes, tar, tag);
        await docker.engine.docker("create", "--name", "theirs", IMAGE, "/x");
        // Builds the environment, imports it, and looks for what was left in the engine.
        const create = () => at.sdk.createWorkspace({ environment: `docker:${IMAGE}`, backend: "docker" });
        const { workspace_id: id } = await create();
        expect(await docker.engine.docker("ps", "-a", "--format", "{{.Names}}")).toContain("theirs");
        await at.sdk.deleteWorkspace(id);
        await at.sdk.stopDaemon();
        await docker.engine.docker("import", ...changes, "--change", "LABEL more=1", tar, IMAGE); // other content, so older images go
        await create();
        expect((await docker.engine.docker("ps", "-a", "--format", "{{.Names}}")).split("\n")).toContain("theirs");
        expect(await docker.engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}")).toContain(theirs);
        await at.sdk.pruneEnvironments();
        expect(await docker.engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}")).toContain(theirs);
        await docker.engine.docker("rm", "theirs");
        await docker.engine.docker("rmi", theirs);
      },
    );
  });

  it("G-21 what it puts where the guest program is mounted is not run in the guest program's place", async () => {
    await withImage(
      () => "mkdir .cloche; ln -s /.cloche .cloche/baseline",
      async (at) => {
        mkdirSync(at.path("project"));
        for (const name of ["upper", "socket", "layers"]) mkdirSync(at.path("project", name));
        symlinkSync(".", at.path("project/baseline"));
        writeFileSync(at.path("project/guest"), "#!/bin/sh\necho taken over; cat /proc/self/status\n", { mode: 0o755 });
        const seed = { environment: `docker:${IMAGE}`, backend: "docker", seed_path: at.path("project") };
        const { workspace_id: id } = await at.sdk.createWorkspace(seed);
        expect((await at.sdk.execWorkspace(id, { command: ["/bin/id", "-u"] })).stdout).toBe("1000\n");
      },
    );
  });
});
