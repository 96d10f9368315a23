import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { type Installation, eventually, withInstallation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

const docker = useDockerEngine();

/** In an installation that uses the engine; at the end nothing of it is left there. */
async function withDocker(body: (at: Installation) => Promise<void>, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await withInstallation(body, { ...docker.engine.env, CLOCHE_BACKEND: "docker", ...env });
  expect(await docker.engine.leftovers()).toEqual([]);
}

describe("the docker backend", () => {
  it.each([undefined, "runc", "runsc"])(
    "runtime %s: create from a project, exec, diff, snapshot, reset, fork, delete",
    async (runtime) => {
      await withDocker(
        async (at) => {
          const { sdk } = at;
          const project = at.path("project");
          mkdirSync(join(project, "sub"), { recursive: true });
          for (const name of ["keep.txt", "gone.txt", "sub/deep.txt"]) writeFileSync(join(project, name), `${name}\n`);
          const workspace = await sdk.createWorkspace({ environment: "host", seed_path: project });
          const { workspace_id: id } = workspace;
          expect(workspace).toMatchObject({ backend: "docker", execution_mode: "guest_socket", state: "started" });
          const exec = await sdk.execWorkspace(id, {
            command:
              "id -u; cat /proc/1/comm keep.txt sub/deep.txt; echo more >> keep.txt; rm gone.txt; rm sub/deep.txt; exit 5",
          });
          expect(exec).toMatchObject({ stdout: "1000\ncloche-guest\nkeep.txt\nsub/deep.txt\n", exit_code: 5 });
          const changed = (await sdk.diffWorkspace(id)).entries.map(({ path, status }) => `${status} ${path}`);
          expect(changed).toEqual([
            "deleted /workspace/gone.txt",
            "modified /workspace/keep.txt",
            "deleted /workspace/sub/deep.txt",
          ]);
          await sdk.createSnapshot(id, "one");
          await sdk.execWorkspace(id, { command: "echo lost > lost.txt; rm keep.txt" });
          await sdk.resetWorkspace(id, { snapshot: "one" });
          expect((await sdk.execWorkspace(id, { command: "cat keep.txt; ls" })).stdout).toBe(
            "keep.txt\nmore\nkeep.txt\nsub\n",
          );
          const fork = await sdk.forkWorkspace(id, { snapshot: "one" });
          expect(fork.backend).toBe("docker");
          expect((await sdk.execWorkspace(fork.workspace_id, { command: "ls -A sub | wc -l" })).stdout.trim()).toBe(
            "0",
          );
          expect((await sdk.diffWorkspace(fork.workspace_id)).entries).toHaveLength(3);
        },
        { CLOCHE_OCI_RUNTIME: runtime },
      );
    },
  );

  it("keeps a folder that was removed and made anew empty, through a snapshot", async () => {
    await withDocker(async (at) => {
      mkdirSync(at.path("project/sub"), { recursive: true });
      writeFileSync(at.path("project/sub/deep.txt"), "deep\n");
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host", seed_path: at.path("project") });
      await at.sdk.execWorkspace(id, { command: "rm -r sub; mkdir sub" });
      await at.sdk.createSnapshot(id, "empty");
      await at.sdk.resetWorkspace(id, { snapshot: "empty" });
      expect((await at.sdk.execWorkspace(id, { command: "ls -A sub | wc -l" })).stdout.trim()).toBe("0");
      const { entries } = await at.sdk.diffWorkspace(id);
      expect(entries.map(({ path, status }) => `${status} ${path}`)).toEqual(["deleted /workspace/sub/deep.txt"]);
    });
  });

  it("runsc is really a kernel of its own", async () => {
    await withDocker(
      async ({ sdk }) => {
        const { workspace_id: id } = await sdk.createWorkspace({ environment: "host" });
        const here = (await sdk.execWorkspace(id, { command: "cat /proc/version" })).stdout;
        const [container = ""] = (await docker.engine.docker("ps", "-q")).split("\n");
        expect(await docker.engine.docker("inspect", "-f", "{{.HostConfig.Runtime}}", container)).toBe("runsc");
        expect(here).toContain("4.4.0");
      },
      { CLOCHE_OCI_RUNTIME: "runsc" },
    );
  });

  it("a flag asks for runsc; one that takes more memory than it has ends, and a reset starts it anew", async () => {
    await withDocker(async (at) => {
      const args = ["workspace", "create", "host", "--oci-runtime", "runsc", "--mem-mib", "192", "--id-only"];
      const id = (await at.cli(args)).stdout.trim();
      expect((await at.sdk.execWorkspace(id, { command: "cat /proc/version" })).stdout).toContain("4.4.0");
      const command = ["perl", "-e", 'my @a; push @a, "x" x 1048576 while @a < 4096; print "ate"'];
      await expect(at.sdk.execWorkspace(id, { command })).rejects.toMatchObject({ code: "SANDBOX_LOST" });
      await at.sdk.resetWorkspace(id);
      expect((await at.sdk.execWorkspace(id, { command: "echo again; cat /proc/version" })).stdout).toMatch(
        /again\n.*4\.4\.0/,
      );
    });
  });

  it("stop and start keep what was written, in and outside of /workspace, and end what ran", async () => {
    await withDocker(async ({ sdk }) => {
      const { workspace_id: id } = await sdk.createWorkspace({ environment: "host" });
      await sdk.execWorkspace(id, {
        command: "echo a > a; echo b > ~/b; echo c > /tmp/c; (setsid sleep 600 >/dev/null 2>&1 &)",
      });
      await sdk.stopWorkspace(id);
      expect(await docker.engine.docker("ps", "-q")).toBe("");
      expect((await sdk.readWorkspaceDisk(id, "a")).content).toBe("a\n");
      await sdk.startWorkspace(id);
      const after = await sdk.execWorkspace(id, { command: "cat a ~/b; ls /tmp; pgrep -c sleep" });
      expect(after.stdout).toBe("a\nb\n0\n");
    });
  });

  it("after kill -9 of the daemon the next one adopts the container, with what runs in it", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({
        environment: "host",
        secrets: [{ name: "TOKEN", value: "hunter2hunter2" }],
      });
      await at.sdk.execWorkspace(id, { command: "echo here > /tmp/marker; (setsid sleep 600 > /dev/null 2>&1 &)" });
      await killDaemon(at);
      const after = await at.sdk.execWorkspace(id, {
        command: "cat /tmp/marker; pgrep -c sleep; echo $TOKEN",
        secret_env: { TOKEN: "TOKEN" },
      });
      expect(after).toMatchObject({ stdout: "here\n1\n[REDACTED]\n", sequence: 2 });
    });
  });

  it("two homes share an engine and know nothing of each other", async () => {
    await withDocker(async (one) => {
      const { workspace_id: id } = await one.sdk.createWorkspace({ environment: "host" });
      await withInstallation(async (two) => {
        const other = await two.sdk.createWorkspace({ environment: "host" });
        expect((await two.sdk.listWorkspaces()).count).toBe(1);
        await two.sdk.deleteWorkspace(other.workspace_id);
      }, one.env);
      expect((await one.sdk.execWorkspace(id, { command: "echo still" })).stdout).toBe("still\n");
    });
  });

  it("removes what belongs to no workspace any more, of its own home only", async () => {
    await withDocker(async (at) => {
      await at.sdk.createWorkspace({ environment: "host" });
      const [mine = ""] = (await docker.engine.docker("ps", "-q")).split("\n");
      const home = await docker.engine.docker("inspect", "-f", '{{index .Config.Labels "cloche.home"}}', mine);
      const image = await docker.engine.docker("inspect", "-f", "{{.Image}}", mine);
      const create = (label: string, name: string) =>
        docker.engine.docker(
          "create",
          "--name",
          name,
          "--label",
          `cloche.home=${label}`,
          "--label",
          `cloche.directory=${at.path("gone")}`,
          image,
          "x",
        );
      await create(home, `cloche-${home}-orphan`);
      await create("somebody", "stranger");
      await at.cli(["daemon", "stop"]);
      await at.sdk.createWorkspace({ environment: "host" });
      const names = () => docker.engine.docker("ps", "-a", "--format", "{{.Names}}");
      await eventually(async () => expect(await names()).not.toContain("orphan"));
      expect(await names()).toContain("stranger");
      await docker.engine.docker("rm", "stranger");
    });
  });

  it("doctor tells which engine it is, and whether gVisor is registered", async () => {
    await withDocker(async ({ sdk }) => {
      const { backends } = await sdk.doctor();
      expect(backends.find(({ name }) => name === "docker")).toMatchObject({
        available: true,
        detail: expect.stringMatching(/^Docker Engine \d+.*gVisor is there as "runsc"$/) as string,
        hint: null,
        limits: ["memory", "pids", "cpu", "disk"].map(
          (name) => expect.objectContaining({ name, holds: name !== "disk" }) as object,
        ),
      });
    });
  });
});
