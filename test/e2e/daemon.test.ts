import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { identifyProcess } from "../../src/base/process-identity.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { eventually, Installation, PROJECT, processesNaming, withInstallation } from "../helpers/installation.ts";
import { killDaemon, wallPid } from "../helpers/running-daemon.ts";

describe("the daemon's life", () => {
  it("is started by the first command that needs it, once, also by ten at the same moment", async () => {
    await withInstallation(async (at) => {
      expect(await at.sdk.daemonStatus()).toMatchObject({ running: false, pid: null });
      const lists = await Promise.all(Array.from({ length: 10 }, () => at.cli(["workspace", "list", "--json"])));
      expect(lists.map((list) => list.code)).toEqual(lists.map(() => 0));
      expect(processesNaming(at.home).filter((line) => line.includes("daemon/main.js"))).toHaveLength(1);
      expect(statSync(join(at.home, "daemon.sock")).mode & 0o177).toBe(0);
    });
  });

  it("G-55 has no token of the command that started it in its environment, and leaves no core", async () => {
    await withInstallation(async (at) => {
      const env = { API_TOKEN: "tok-5b1e77c0", CLOCHE_TOKEN: "tok-5b1e77c0", DOCKER_CONTEXT: "", LC_TIME: "C" };
      expect((await at.cli(["workspace", "list"], { env })).code).toBe(0);
      const { pid } = await at.sdk.daemonStatus();
      const environ = readFileSync(`/proc/${pid ?? 0}/environ`, "latin1");
      expect(environ).not.toContain("tok-5b1e77c0");
      expect(environ.split("\0")).toEqual(expect.arrayContaining([`CLOCHE_HOME=${at.home}`, "LC_TIME=C"]));
      // Of one byte: with none the kernel would give the core to a collector.
      expect(readFileSync(`/proc/${pid ?? 0}/limits`, "utf8")).toMatch(/^Max core file size +[01] +[01] /m);
      expect(readFileSync(`/proc/${pid ?? 0}/cmdline`, "utf8").split("\0")[0]).toBe(process.execPath);
    });
  });

  it("ends by itself when there is nothing to hold, and stays while there is", async () => {
    const at = new Installation("idle");
    // Made before: a daemon so impatient could be gone again before it is asked for one.
    const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
    await at.sdk.stopDaemon();
    const daemon = spawn(
      process.execPath,
      [join(PROJECT, "dist/daemon/main.js"), "--home", at.home, "--idle-seconds", "0.3"],
      { stdio: ["ignore", "pipe", "inherit"], env: at.env },
    );
    const ended = new Promise((done) => daemon.once("exit", done));
    await new Promise((done) => daemon.stdout.once("data", done));
    await new Promise((done) => setTimeout(done, 900)); // three times its patience
    expect(daemon.exitCode).toBeNull();
    await at.sdk.deleteWorkspace(id);
    expect(await ended).toBe(0);
    expect(existsSync(join(at.home, "daemon.sock"))).toBe(false);
    await at[Symbol.asyncDispose]();
  });

  it("stop ends it and leaves the sandboxes, which the next one adopts", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await at.sdk.execWorkspace(id, { command: "echo here > /tmp/marker" });
      expect((await at.cli(["daemon", "stop"])).code).toBe(0);
      expect((await at.cli(["daemon", "status", "--json"])).json()).toMatchObject({ running: false });
      expect((await at.sdk.execWorkspace(id, { command: "cat /tmp/marker" })).stdout).toBe("here\n");
    });
  });

  it("after kill -9 the next one adopts every workspace: same sandbox, whole journal", async () => {
    await withInstallation(async (at) => {
      const ids = await Promise.all(
        ["a", "b", "c"].map(async (name) => (await at.sdk.createWorkspace({ environment: "host", name })).workspace_id),
      );
      for (const id of ids)
        await at.sdk.execWorkspace(id, { command: `echo ${id} > /tmp/marker; (setsid sleep 600 > /dev/null 2>&1 &)` });
      await killDaemon(at);
      const after = await Promise.all(
        ids.map((id) => at.sdk.execWorkspace(id, { command: "cat /tmp/marker; pgrep -c sleep" })),
      );
      expect(after.map(({ stdout, sequence }) => [stdout, sequence])).toEqual(ids.map((id) => [`${id}\n1\n`, 2]));
      for (const id of ids)
        expect((await at.sdk.logsWorkspace(id)).entries.map((entry) => [entry.sequence, entry.state])).toEqual([
          [1, "done"],
          [2, "done"],
        ]);
    });
  });

  it("a command that runs while the daemon is killed goes on, its client reads on, and its journal entry is whole", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const lines: string[] = [];
      let killed = false;
      let last: unknown;
      for await (const event of at.sdk.streamWorkspace(id, {
        command: "for i in $(seq 40); do echo line $i; sleep 0.05; done; exit 7",
      })) {
        if (event.type === "stdout") lines.push(event.data);
        if (!killed && event.type === "stdout") {
          killed = true;
          await killDaemon(at);
        }
        last = event;
      }
      const all = Array.from({ length: 40 }, (_, n) => `line ${n + 1}\n`).join("");
      expect(lines.join("")).toBe(all);
      expect(last).toMatchObject({ type: "exit", exit_code: 7, sequence: 1 });
      const [entry] = (await at.sdk.logsWorkspace(id)).entries;
      expect(entry).toMatchObject({ state: "done", exit_code: 7, stdout: all });
    });
  });

  it("a command whose client is gone too is taken up by the next daemon", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const client = spawn(
        process.execPath,
        [
          join(PROJECT, "dist/cli/main.js"),
          "workspace",
          "exec",
          id,
          "--",
          "sh",
          "-c",
          "echo begun; sleep 2; echo over; exit 3",
        ],
        { env: at.env, stdio: ["ignore", "pipe", "ignore"] },
      );
      await new Promise((done) => client.stdout.once("data", done));
      const { pid } = await at.sdk.daemonStatus();
      process.kill(pid ?? 0, "SIGKILL");
      client.kill("SIGKILL");
      await eventually(async () => {
        const [entry] = (await at.sdk.logsWorkspace(id)).entries;
        expect(entry).toMatchObject({ state: "done", exit_code: 3, stdout: "begun\nover\n" });
      });
    });
  });

  it("kill -9 in the middle of creations and deletions leaves nothing half made", async () => {
    await withInstallation(async (at) => {
      const ids: string[] = [];
      for (let round = 0; round < 4; round++) {
        await at.sdk.listWorkspaces();
        const busy = [
          at.sdk.createWorkspace({ environment: "host" }),
          at.sdk.createWorkspace({ environment: "host" }),
          ...ids.splice(0, 1).map((id) => at.sdk.deleteWorkspace(id)),
        ].map((one) => one.catch(() => undefined));
        await new Promise((done) => setTimeout(done, 5 + round * 12));
        await killDaemon(at);
        await Promise.all(busy);
        const { workspaces } = await at.sdk.listWorkspaces();
        expect(workspaces.every((one) => one.state === "started")).toBe(true);
        for (const { workspace_id: id } of workspaces) {
          expect((await at.sdk.execWorkspace(id, { command: "echo ok" })).stdout).toBe("ok\n");
          if (!ids.includes(id)) ids.push(id);
        }
      }
    });
  });

  it("a sandbox that ended while no daemon ran is shown as failed, with the reason", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await killDaemon(at);
      const outer = wallPid(at.home, id);
      for (const child of readFileSync(`/proc/${outer}/task/${outer}/children`, "latin1").trim().split(" "))
        process.kill(Number(child), "SIGKILL");
      await eventually(() => expect(identifyProcess(outer)).toBeUndefined());
      expect(await at.sdk.statusWorkspace(id)).toMatchObject({
        state: "failed",
        state_reason: expect.stringContaining("ended") as string,
      });
    });
  });

  it("a client that goes away ends its command, and the workspace stays", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await expect(
        at.sdk.execWorkspace(id, { command: "sleep 55.5", timeout_seconds: 60, signal: AbortSignal.timeout(300) }),
      ).rejects.toThrow();
      await eventually(async () =>
        expect((await at.sdk.execWorkspace(id, { command: "pgrep -fc 'sleep 55[.]5'" })).stdout.trim()).toBe("0"),
      );
    });
  });

  it("speaks only to its own version", async () => {
    await withInstallation(async (at) => {
      await at.sdk.listWorkspaces();
      const { request } = await import("node:http");
      const answer = await new Promise<string>((done, fail) => {
        const asking = request(
          {
            socketPath: join(at.home, "daemon.sock"),
            path: "/v1/listWorkspaces",
            method: "POST",
            headers: { "x-cloche-version": "9.9.9" },
          },
          (response) => {
            let text = "";
            response.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => done(text));
          },
        );
        asking.on("error", fail).end("{}");
      });
      expect(answer).toContain("DAEMON_VERSION");
    });
  });

  it("the SDK is AsyncDisposable", async () => {
    await withInstallation(async (at) => {
      await using sdk = new Cloche({ home: at.home, env: at.env });
      expect((await sdk.listWorkspaces()).count).toBe(0);
    });
  });
});
