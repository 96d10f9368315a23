import { rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import { hostname, release } from "node:os";
import { describe, expect, it } from "vitest";
import { namePrefix } from "../../src/backends/docker/labels.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { type Installation, eventually, withInstallation } from "../helpers/installation.ts";

const docker = useDockerEngine();

const withDocker = (body: (at: Installation) => Promise<void>, env: NodeJS.ProcessEnv = {}): Promise<void> =>
  withInstallation(body, { ...docker.engine.env, CLOCHE_BACKEND: "docker", ...env });

async function expectNothingLeft(at: Installation): Promise<void> {
  expect(await at.sdk.listWorkspaces()).toEqual({ count: 0, workspaces: [] });
  expect(await docker.engine.leftovers()).toEqual([]);
}

/** Removes the images of environments from the engine. */
async function forgetImages(): Promise<void> {
  const images = (await docker.engine.docker("images", "-q", "cloche/environment")).split("\n").filter(Boolean);
  if (images.length > 0) await docker.engine.docker("rmi", "--force", ...new Set(images));
}

/** What a caller sees of a failed create: the code, the next step, and nothing left. */
async function expectUnavailable(at: Installation, message: RegExp, hint: RegExp): Promise<void> {
  const created = await at.cli(["workspace", "create", "host", "--json"]);
  expect(created.json()).toMatchObject({
    error: {
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(hint) as string,
    },
  });
  expect(created.code).toBe(125);
  const { backends } = await at.sdk.doctor();
  expect(backends.find(({ name }) => name === "docker")).toMatchObject({
    available: false,
    detail: expect.stringMatching(message) as string,
    hint: expect.stringMatching(hint) as string,
  });
  await expectNothingLeft(at);
}

/** Stands in for an engine in a way that a real one cannot be made to: `answer` gets the path of each call. */
async function withStandIn(
  answer: (path: string) => { status: number; body: object } | "hang up",
  body: (at: Installation) => Promise<void>,
): Promise<void> {
  await withInstallation(async (installation) => {
    const path = installation.path("e.sock");
    const server = createServer((request, response) => {
      if (request.url === "/_ping") {
        response.setHeader("api-version", "1.41");
        response.end("OK");
        return;
      }
      const given = answer((request.url ?? "").replace(/^\/v[\d.]+/, ""));
      if (given === "hang up") request.socket.destroy();
      else {
        response.statusCode = given.status;
        response.end(JSON.stringify(given.body));
      }
    });
    await new Promise<void>((done) => server.listen(path, done));
    try {
      Object.assign(installation.env, { DOCKER_HOST: `unix://${path}`, CLOCHE_BACKEND: "docker" });
      await body(installation);
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(path, { force: true });
    }
  });
}

/** The real engine behind a socket that goes on with a call when nobody waits for it any more, and tells of new containers. */
async function withToldEngine(
  body: (at: Installation, asked: Promise<void>, made: Promise<void>) => Promise<void>,
): Promise<void> {
  await withInstallation(async (at) => {
    const path = at.path("e.sock");
    const socketPath = (docker.engine.env["DOCKER_HOST"] ?? "").replace("unix://", "");
    let tellAsked: () => void = () => undefined;
    let tellMade: () => void = () => undefined;
    let isBeingMade = false;
    const asked = new Promise<void>((done) => (tellAsked = done));
    const made = new Promise<void>((done) => (tellMade = done));
    const server = createServer((incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const isNew = /containers\/create/.test(url ?? "");
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("end", () => {
        // Before it is there, the engine knows nothing of it: how long that takes is chance.
        if (isBeingMade && method !== "GET") {
          outgoing.writeHead(404).end('{"message":"No such container"}');
          return;
        }
        if (isNew) isBeingMade = true;
        const call = request({ socketPath, path: url, method, headers }, (answer) => {
          if (isNew) {
            isBeingMade = false;
            tellMade();
          }
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        call.on("error", () => outgoing.destroy());
        if (isNew) call.once("finish", tellAsked);
        call.end(Buffer.concat(chunks));
      });
    });
    await new Promise<void>((done) => server.listen(path, done));
    try {
      Object.assign(at.env, { DOCKER_HOST: `unix://${path}`, CLOCHE_BACKEND: "docker" });
      await body(at, asked, made);
    } finally {
      await at.sdk.stopDaemon();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(path, { force: true });
    }
  });
}

it("a create that is cancelled while the engine makes the container leaves none", async () => {
  await withToldEngine(async (at, asked, made) => {
    const cancel = new AbortController();
    const creating = at.sdk.createWorkspace({ environment: "host", signal: cancel.signal });
    void asked.then(() => cancel.abort());
    await expect(creating).rejects.toMatchObject({ code: "CANCELLED" });
    await made;
    await eventually(() => expectNothingLeft(at));
  });
});

describe("an engine that cannot be used", () => {
  it("is not running: create and doctor say so and what to do", async () => {
    await withDocker(
      (at) => expectUnavailable(at, /No Docker engine answers at unix:\/\/\/nowhere/, /systemctl start docker/),
      { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    );
  });

  it("is named by a variable that was changed: the daemon has the old one, and the hint's command helps", async () => {
    await withDocker(
      async (at) => {
        const create = () => at.cli(["workspace", "create", "host", "--json"]);
        await create();
        Object.assign(at.env, docker.engine.env);
        expect((await create()).json()).toMatchObject({
          error: { hint: expect.stringMatching(/set DOCKER_HOST .* `cloche daemon stop`$/) as string },
        });
        await at.cli(["daemon", "stop"]);
        expect((await create()).code).toBe(0);
      },
      { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    );
  });

  it("refuses: an authorization plugin's word is passed on", async () => {
    await withStandIn(
      () => ({ status: 403, body: { message: "authorization denied by plugin keeper" } }),
      (at) => expectUnavailable(at, /does not allow it.*keeper/, /authorization plugin/),
    );
  });

  it("hangs up in the middle of a call", async () => {
    await withStandIn(
      () => "hang up",
      (at) => expectUnavailable(at, /went away/, /docker info/),
    );
  });

  it("runs on another machine", async () => {
    const info = {
      OSType: "linux",
      Name: "elsewhere",
      KernelVersion: "1.2.3",
      OperatingSystem: "Docker Desktop",
      Runtimes: {},
    };
    await withStandIn(
      () => ({ status: 200, body: info }),
      (at) => expectUnavailable(at, /runs on another machine \("elsewhere", Docker Desktop\)/, /DOCKER_HOST/),
    );
  });

  it("is rootless, and has no ids to give", async () => {
    const info = {
      OSType: "linux",
      Name: hostname(),
      KernelVersion: release(),
      Runtimes: {},
      SecurityOptions: ["name=rootless"],
    };
    await withStandIn(
      () => ({ status: 200, body: info }),
      (at) => expectUnavailable(at, /is rootless/, /backend container/),
    );
  });

  it("knows no such runtime", async () => {
    await withDocker((at) => expectUnavailable(at, /knows no runtime "kata"/, /daemon\.json.*runc/), {
      CLOCHE_OCI_RUNTIME: "kata",
    });
  });

  it("is named by a context that does not exist", async () => {
    await withDocker((at) => expectUnavailable(at, /no Docker context "gone"/, /docker context ls/), {
      DOCKER_HOST: "",
      DOCKER_CONTEXT: "gone",
    });
  });
});

/** A socket before the real engine: kills the engine as soon as it has been sent a call that matches, once; or before it gets that call. */
async function killingEngineAt(
  call: RegExp,
  body: (at: Installation) => Promise<void>,
  options: { before?: boolean; whenBack?: (at: Installation) => Promise<void> } = {},
): Promise<void> {
  await withDocker(async (at) => {
    const path = at.path("k.sock");
    let killed: Promise<void> | undefined;
    const server = createSocketServer((client) => {
      const engine = connect(docker.engine.host.replace("unix://", ""));
      for (const [from, to] of [
        [client, engine],
        [engine, client],
      ] as const)
        from.once("error", () => to.destroy()).once("close", () => to.destroy());
      client.on("data", (chunk: Buffer) => {
        const isIt = killed === undefined && call.test(chunk.toString("latin1"));
        // To kill it takes a moment: an answer that it still gives is not passed on.
        if (isIt) engine.unpipe(client).resume();
        if (!isIt || options.before !== true) engine.write(chunk);
        if (isIt) killed = docker.engine.kill();
      });
      engine.pipe(client);
    });
    await new Promise<void>((done) => server.listen(path, done));
    Object.assign(at.env, { DOCKER_HOST: `unix://${path}` });
    try {
      await body(at);
      expect(killed).toBeDefined();
    } finally {
      await killed;
      await docker.engine.revive();
      try {
        await options.whenBack?.(at);
        // What the engine had made goes when it is back.
        expect((await at.cli(["run", "--", "echo", "back"])).stdout).toBe("back\n");
        await eventually(async () => expect(await docker.engine.leftovers()).toEqual([]));
      } finally {
        await new Promise((done) => server.close(done));
      }
    }
  });
}

describe("an engine that dies", () => {
  it.each([
    ["while it takes an image", /^POST \S*\/images\/create/],
    ["while it makes a container", /^POST \S*\/containers\/create/],
    ["while it starts one", /^POST \S*\/containers\/\w+\/start/],
  ])(
    "%s: the create is told and undone, other workspaces go on, and nothing is left when it is back",
    async (_when, call) => {
      await forgetImages();
      await killingEngineAt(call, async (at) => {
        const { workspace_id: other } = await at.sdk.createWorkspace({ environment: "host", backend: "container" });
        const created = await at.cli(["workspace", "create", "host", "--json"]);
        expect(created.json()["error"]).toMatchObject({
          code: "BACKEND_UNAVAILABLE",
          message: expect.stringMatching(/went away|No Docker engine answers/) as string,
          hint: expect.stringMatching(/docker/) as string,
        });
        expect(created.code).toBe(125);
        expect((await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id)).toEqual([other]);
        expect((await at.sdk.execWorkspace(other, { command: "echo on" })).stdout).toBe("on\n");
        await at.sdk.deleteWorkspace(other);
      });
    },
  );

  it("before it has written what a volume is for: that one goes too when it is back, and nobody else's", async () => {
    await withDocker(async (at) => {
      const [own, foreign] = [`${namePrefix(at.home)}ws-0000000000-g1`, "somebody-elses"];
      for (const name of [own, foreign]) await docker.engine.docker("volume", "create", name);
      try {
        expect((await at.cli(["run", "--", "echo", "back"])).stdout).toBe("back\n");
        await eventually(async () => expect(await docker.engine.leftovers()).toEqual([foreign]));
      } finally {
        await docker.engine.docker("volume", "rm", foreign);
      }
    });
  });

  it("in the middle of a delete: the workspace says so, its files are there, and a second delete finishes it", async () => {
    let id = "";
    await killingEngineAt(
      /^DELETE \S*\/containers\//,
      async (at) => {
        id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
        await at.sdk.execWorkspace(id, { command: "echo kept > file" });
        await at.sdk.createSnapshot(id, "s");
        await expect(at.sdk.deleteWorkspace(id)).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
        expect(await at.sdk.statusWorkspace(id)).toMatchObject({
          state: "failed",
          state_reason: expect.stringMatching(/^it could not be removed: .*Docker engine/) as string,
        });
      },
      {
        before: true,
        whenBack: async ({ sdk }) => {
          await sdk.resetWorkspace(id, { snapshot: "s" });
          expect((await sdk.execWorkspace(id, { command: "cat file" })).stdout).toBe("kept\n");
          await sdk.deleteWorkspace(id);
          expect((await sdk.listWorkspaces()).count).toBe(0);
        },
      },
    );
  });

  it("in the middle of a command: the command runs to its end, and its caller has all of it", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const command = "touch /tmp/runs; until [ -e /tmp/go ]; do sleep 0.05; done; echo done; exit 7";
      const running = at.sdk.execWorkspace(id, { command });
      await eventually(async () => {
        expect((await at.sdk.execWorkspace(id, { command: "ls /tmp/runs" })).exit_code).toBe(0);
      });
      await docker.engine.kill();
      try {
        await at.sdk.execWorkspace(id, { command: "touch /tmp/go" });
        expect(await running).toMatchObject({ stdout: "done\n", exit_code: 7 });
      } finally {
        await docker.engine.revive();
      }
      await at.sdk.deleteWorkspace(id);
      await expectNothingLeft(at);
    });
  });

  it("takes no sandbox with it: commands go on, and a delete changes nothing until its return", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const { workspace_id: resting } = await at.sdk.createWorkspace({ environment: "host" });
      await at.sdk.execWorkspace(resting, { command: "echo kept > file" });
      await at.sdk.stopWorkspace(resting);
      await docker.engine.kill();
      try {
        expect((await at.sdk.execWorkspace(id, { command: "echo on" })).stdout).toBe("on\n");
        await expect(at.sdk.createWorkspace({ environment: "host" })).rejects.toMatchObject({
          code: "BACKEND_UNAVAILABLE",
        });
        expect((await at.sdk.listWorkspaces()).count).toBe(2);
        for (const one of [id, resting])
          await expect(at.sdk.deleteWorkspace(one)).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
        expect(await at.sdk.statusWorkspace(id)).toMatchObject({ state: "started", state_reason: null });
        expect((await at.sdk.execWorkspace(id, { command: "echo still" })).stdout).toBe("still\n");
        expect(await at.sdk.statusWorkspace(resting)).toMatchObject({ state: "stopped", state_reason: null });
      } finally {
        await docker.engine.revive();
      }
      await at.sdk.startWorkspace(resting);
      expect((await at.sdk.execWorkspace(resting, { command: "cat file" })).stdout).toBe("kept\n");
      for (const one of [id, resting]) await at.sdk.deleteWorkspace(one);
      await expectNothingLeft(at);
    });
  });

  it("ends its sandboxes when it comes back: they are failed, and a reset makes them anew", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await at.sdk.execWorkspace(id, { command: "echo kept > file" });
      await at.sdk.createSnapshot(id, "s");
      await docker.engine.kill();
      await docker.engine.revive();
      await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
      await at.sdk.resetWorkspace(id, { snapshot: "s" });
      expect((await at.sdk.execWorkspace(id, { command: "cat file" })).stdout).toBe("kept\n");
    });
    expect(await docker.engine.leftovers()).toEqual([]);
  });
});

describe("what is removed behind our back", () => {
  it("a container: its workspace is failed and says why, the others go on, it can be deleted", async () => {
    await withDocker(async (at) => {
      const [gone, other] = await Promise.all([
        at.sdk.createWorkspace({ environment: "host" }),
        at.sdk.createWorkspace({ environment: "host" }),
      ]);
      const names = (await docker.engine.docker("ps", "--format", "{{.Names}}")).split("\n");
      await docker.engine.docker("rm", "-f", names.find((name) => name.includes(gone.workspace_id)) ?? "");
      await eventually(async () => expect((await at.sdk.statusWorkspace(gone.workspace_id)).state).toBe("failed"));
      await expect(at.sdk.execWorkspace(gone.workspace_id, { command: "true" })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_RUNNING",
      });
      expect((await at.sdk.execWorkspace(other.workspace_id, { command: "echo on" })).stdout).toBe("on\n");
      await at.sdk.deleteWorkspace(gone.workspace_id);
      await at.sdk.deleteWorkspace(other.workspace_id);
      await expectNothingLeft(at);
    });
  });

  it("a container in which a command runs: its caller is told, and the workspace starts anew with its files", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const running = at.sdk.execWorkspace(id, { command: "echo kept > file; touch /tmp/runs; sleep 60" });
      running.catch(() => undefined); // looked at below
      await eventually(async () => {
        expect((await at.sdk.execWorkspace(id, { command: "ls /tmp/runs" })).exit_code).toBe(0);
      });
      await docker.engine.docker("rm", "-f", await docker.engine.docker("ps", "--format", "{{.Names}}"));
      await expect(running).rejects.toMatchObject({ code: "SANDBOX_LOST", hint: expect.any(String) as string });
      await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
      await at.sdk.startWorkspace(id);
      expect((await at.sdk.execWorkspace(id, { command: "cat file" })).stdout).toBe("kept\n");
      await at.sdk.deleteWorkspace(id);
      await expectNothingLeft(at);
    });
  });

  it("a stopped container: the workspace starts all the same, with its /workspace", async () => {
    await withDocker(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await at.sdk.execWorkspace(id, { command: "echo kept > file" });
      await at.sdk.stopWorkspace(id);
      await docker.engine.docker("container", "prune", "--force");
      await at.sdk.startWorkspace(id);
      expect((await at.sdk.execWorkspace(id, { command: "cat file" })).stdout).toBe("kept\n");
    });
  });

  it("the image of an environment: the next create imports it again", async () => {
    await withDocker(async (at) => {
      await at.sdk.run({ environment: "host", command: "true" });
      await forgetImages();
      expect((await at.sdk.run({ environment: "host", command: "echo again" })).stdout).toBe("again\n");
    });
  });
});
