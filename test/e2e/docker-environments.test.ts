import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { type Installation, runProcess, withInstallation } from "../helpers/installation.ts";

const docker = useDockerEngine();
const IMAGE = "example/tools:1";

/** A home whose cache is its own, in which the engine has one image: the shell of this host, a setuid program and a file of a service's user. */
async function withImage(body: (at: Installation) => Promise<void>): Promise<void> {
  const cache = mkdtempSync(join(tmpdir(), "cl-cache-"));
  chmodSync(cache, 0o755); // the ids of a sandbox are nobody here and must get through
  try {
    // Beside the cache, a `docker` that writes down what it is asked.
    mkdirSync(join(cache, "bin"));
    writeFileSync(
      join(cache, "bin/docker"),
      `#!/bin/sh\necho "$@" >> ${cache}/asked\nPATH="${process.env["PATH"] ?? ""}" exec docker "$@"\n`,
      { mode: 0o755 },
    );
    const PATH = `${join(cache, "bin")}:${docker.engine.env["PATH"] ?? process.env["PATH"] ?? ""}`;
    const env = { ...docker.engine.env, CLOCHE_CACHE: cache, PATH };
    await withInstallation(async (at) => {
      await importImage(at, "first");
      await body(at);
    }, env);
  } finally {
    await removeTree(cache);
  }
  expect(await docker.engine.leftovers()).toEqual([]);
}

async function importImage(at: Installation, content: string): Promise<void> {
  const script = `set -e
    mkdir -p i/bin i/etc i/opt
    for name in sh cat id stat; do
      cp -L "$(command -v $name)" i/bin/$name
      ldd i/bin/$name | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} i/
    done
    echo "$CONTENT" > i/etc/content; echo secret > i/opt/service; chown 33:33 i/opt/service
    cp i/bin/id i/opt/setuid; chmod 4755 i/opt/setuid
    tar -C i --numeric-owner -c . | docker import - ${IMAGE}`;
  const env = { ...at.env, CONTENT: content };
  const { code, stderr } = await runProcess("sh", ["-c", script], { cwd: at.root, env });
  expect(stderr).toBe("");
  expect(code).toBe(0);
}

describe("environments of the Docker engine", () => {
  it.each(["docker", "container"])(
    "docker:IMAGE works on backend %s, with owners and without setuid",
    async (backend) => {
      await withImage(async ({ sdk }) => {
        const { workspace_id: id, environment } = await sdk.createWorkspace({
          environment: `docker:${IMAGE}`,
          backend,
        });
        expect(environment).toBe(`docker:${IMAGE}`);
        const { stdout } = await sdk.execWorkspace(id, {
          command: ["/bin/sh", "-c", "cat /etc/content; id -u; stat -c '%u %a' /opt/service /opt/setuid"],
        });
        expect(stdout).toBe("first\n1000\n33 644\n0 755\n");
      });
    },
  );

  it("is taken out again when the name means another image", async () => {
    await withImage(async (at) => {
      const content = async () =>
        (await at.sdk.run({ environment: `docker:${IMAGE}`, backend: "docker", command: ["/bin/cat", "/etc/content"] }))
          .stdout;
      expect(await content()).toBe("first\n");
      await importImage(at, "second");
      expect(await content()).toBe("second\n");
      const { environments } = await at.sdk.listEnvironments();
      expect(environments.find(({ name }) => name === `docker:${IMAGE}`)).toMatchObject({ state: "warm" });
    });
  });

  it("an image that is missing, or a name that is none, is told with the next step", async () => {
    await withImage(async ({ sdk }) => {
      for (const reference of ["nobody/has:this", "UPPER CASE", "../../info"]) {
        await expect(
          sdk.createWorkspace({ environment: `docker:${reference}`, backend: "docker" }),
        ).rejects.toMatchObject({
          code: "ENVIRONMENT_NOT_FOUND",
          hint: expect.stringContaining(`docker pull ${reference}`) as string,
        });
      }
      expect((await sdk.listWorkspaces()).count).toBe(0);
    });
  });

  it("dockerfile:FOLDER is built from the folder, relative to the caller, and again when a file has changed", async () => {
    await withImage(async (at) => {
      mkdirSync(at.path("built"));
      writeFileSync(at.path("built/Dockerfile"), `FROM ${IMAGE}\nCOPY note /etc/note\n`);
      writeFileSync(at.path("built/note"), "one\n");
      const note = async () => {
        const args = ["run", "dockerfile:built", "--backend", "docker", "--", "/bin/cat", "/etc/note", "/etc/content"];
        const { stdout, stderr } = await at.cli(args, { cwd: at.root });
        return stdout || stderr;
      };
      expect(await note()).toBe("one\nfirst\n");
      writeFileSync(at.path("built/note"), "another\n");
      expect(await note()).toBe("another\nfirst\n");
    });
  });

  it("G-23: the steps of a dockerfile:FOLDER have no network unless it is asked for", async () => {
    await withImage(async (at) => {
      mkdirSync(at.path("steps"));
      const asked = () =>
        readFileSync(join(at.env["CLOCHE_CACHE"] ?? "", "asked"), "utf8")
          .trim()
          .split("\n")
          .at(-1);
      writeFileSync(
        at.path("steps/Dockerfile"),
        `FROM ${IMAGE}\nRUN for one in /sys/class/net/*; do echo "\${one##*/}"; done > /etc/interfaces\n`,
      );
      const environment = `dockerfile:${at.path("steps")}`;
      const seen = await at.sdk.run({ environment, command: ["/bin/cat", "/etc/interfaces"] });
      expect(seen.stdout).toBe("lo\n");
      // The engine of these tests has no bridge: that it would have none anyway proves nothing.
      expect(asked()).toMatch(/^build .*--network none /);
      writeFileSync(at.path("steps/Dockerfile"), `FROM ${IMAGE}\nRUN exit 3\n`);
      const refused = await at.cli(["env", "pull", environment]);
      expect(refused.stderr).toContain(`cloche env pull ${environment} --build-network`);
      const open = await at.cli(["env", "pull", environment, "--build-network"]);
      expect(open.stderr).not.toContain("--build-network");
      expect(asked()).toMatch(/^build (?!.*--network)/);
    });
  });

  it("dockerfile:FOLDER leaves one image of the last build, with a name, and env prune removes it with the environment", async () => {
    await withImage(async (at) => {
      const images = async (...filter: string[]) =>
        (await docker.engine.docker("images", ...filter, "--format", "{{.Repository}}:{{.Tag}}")).split("\n");
      const dangling = await images("--filter", "dangling=true");
      mkdirSync(at.path("df"));
      writeFileSync(at.path("df/Dockerfile"), `FROM ${IMAGE}\nRUN echo built > /etc/note\nCOPY note /etc/two\n`);
      for (const note of ["one\n", "another\n"]) {
        writeFileSync(at.path("df/note"), note);
        const environment = `dockerfile:${at.path("df")}`;
        expect(await at.sdk.run({ environment, command: ["/bin/cat", "/etc/note", "/etc/two"] })).toMatchObject({
          stdout: `built\n${note}`,
        });
      }
      const ours = (await images()).filter((name) => /^cloche\/dockerfile:.*_df-/.test(name));
      expect(ours).toHaveLength(1);
      expect(await images("--filter", "dangling=true")).toEqual(dangling);
      const { backends } = await at.sdk.pruneEnvironments();
      expect(backends.flatMap(({ removed }) => removed.map(({ name }) => name))).toEqual([`docker image ${ours[0]}`]);
      expect((await images()).filter((name) => /^cloche\/dockerfile:.*_df-/.test(name))).toEqual([]);
      expect(await images("--filter", "dangling=true")).toEqual(dangling);
    });
  });

  it("a step of a Dockerfile that fails shows what it said, and leaves no container", async () => {
    await withImage(async (at) => {
      mkdirSync(at.path("bad"));
      writeFileSync(at.path("bad/Dockerfile"), `FROM ${IMAGE}\nRUN echo one; cat /nope\n`);
      const environment = `dockerfile:${at.path("bad")}`;
      const { code, stderr } = await at.cli(["env", "pull", environment]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/returned a non-zero code: 1; its last output:.*cat: \/nope: No such file or directory/s);
      expect(stderr).toContain(`cloche env pull ${environment} --json`);
      const told = await at.cli(["env", "pull", environment, "--json"]);
      expect(told.json()).toMatchObject({
        error: {
          code: "ENVIRONMENT_BUILD_FAILED",
          details: { output: expect.arrayContaining(["one", "cat: /nope: No such file or directory"]) as string[] },
        },
      });
      expect(await docker.engine.leftovers()).toEqual([]);
    });
  });

  it("a Dockerfile that is missing or does not build is told, and leaves nothing", async () => {
    await withImage(async (at) => {
      mkdirSync(at.path("bad"));
      const create = () => at.sdk.createWorkspace({ environment: `dockerfile:${at.path("bad")}`, backend: "docker" });
      await expect(create()).rejects.toMatchObject({
        code: "ENVIRONMENT_NOT_FOUND",
        message: expect.stringContaining("no Dockerfile") as string,
      });
      writeFileSync(at.path("bad/Dockerfile"), `FROM ${IMAGE}\nCOPY missing /x\n`);
      await expect(create()).rejects.toMatchObject({
        code: "ENVIRONMENT_BUILD_FAILED",
        message: expect.stringContaining("missing") as string,
      });
      expect((await at.sdk.listWorkspaces()).count).toBe(0);
    });
  });
});
