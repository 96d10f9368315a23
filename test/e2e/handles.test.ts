import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cloche } from "../../src/sdk/cloche.ts";
import type { WorkspaceHandle } from "../../src/sdk/workspace-handle.ts";
import { eventually, Installation, PROJECT, runProcess } from "../helpers/installation.ts";

const failing = (code: string) => expect.objectContaining({ code }) as Error;

let at: Installation;
let ws: WorkspaceHandle;
beforeAll(async () => {
  at = new Installation("hnd");
  mkdirSync(at.path("project"));
  writeFileSync(at.path("project", "a.txt"), "one\n");
  ws = await at.sdk.workspace({ seed_path: at.path("project"), name: "base" });
});
afterAll(() => at[Symbol.asyncDispose]());

const ids = async () => (await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id).toSorted();

describe("a handle's life", () => {
  it("ends with its scope: what was made is deleted, also when the scope throws", async () => {
    const made: string[] = [];
    const scope = async () => {
      await using own = await at.sdk.workspace();
      await using fork = await own.fork({ name: "fork" });
      made.push(own.id, fork.id);
      expect(await ids()).toEqual(expect.arrayContaining(made) as string[]);
      throw new Error("on the way");
    };
    await expect(scope()).rejects.toThrow("on the way");
    expect(made).toHaveLength(2);
    expect(await ids()).toEqual([ws.id]);
  });

  it("does not end with its scope where the workspace was only found", async () => {
    {
      await using found = await at.sdk.open(ws.id.slice(0, -1));
      expect(found.id).toBe(ws.id);
      expect(found.info).toMatchObject({ workspace_id: ws.id, name: "base", state: "started" });
    }
    expect(await ids()).toEqual([ws.id]);
  });

  it("may end twice, or after somebody else has ended it; what is asked of it then says that it is gone", async () => {
    const own = await at.sdk.workspace();
    const other = await at.sdk.open(own.id);
    await Promise.all([own[Symbol.asyncDispose](), own[Symbol.asyncDispose]()]);
    await own[Symbol.asyncDispose]();
    await expect(own.exec("true")).rejects.toThrow(failing("WORKSPACE_NOT_FOUND"));
    await expect(other.delete()).rejects.toThrow(failing("WORKSPACE_NOT_FOUND"));
    await expect(at.sdk.open(own.id)).rejects.toThrow(failing("WORKSPACE_NOT_FOUND"));

    const second = await at.sdk.workspace();
    await at.sdk.deleteWorkspace(second.id);
    await second[Symbol.asyncDispose]();
  });

  it("says so when the workspace could not be deleted, and not when it was before", async () => {
    const client = new Cloche({ home: at.home, env: at.env });
    const [kept, gone] = await Promise.all([client.workspace(), client.workspace()]);
    await gone.delete();
    await client.close();
    await gone[Symbol.asyncDispose]();
    await expect(kept[Symbol.asyncDispose]()).rejects.toThrow(failing("CANCELLED"));
    await at.sdk.deleteWorkspace(kept.id);
  });

  it("does not begin when the creation fails or is aborted, and nothing is left of it", async () => {
    const before = await ids();
    await expect(at.sdk.workspace({ seed_path: at.path("nowhere") })).rejects.toThrow(failing("SEED_NOT_FOUND"));
    await expect(at.sdk.workspace({ signal: AbortSignal.abort() })).rejects.toThrow(failing("CANCELLED"));
    await expect(ids()).resolves.toEqual(before);
  });

  it("begins or does not, whenever it is aborted: nothing is made that nobody knows of", async () => {
    const before = await ids();
    const ends = await Promise.all(
      Array.from({ length: 24 }, async (_, step) => {
        try {
          await using made = await at.sdk.workspace({ signal: AbortSignal.timeout(step * 25) });
          return made.info.state;
        } catch (error) {
          return (error as { code?: string }).code;
        }
      }),
    );
    expect(ends).toContain("CANCELLED");
    expect(ends.filter((end) => end !== "CANCELLED" && end !== "started")).toEqual([]);
    // The daemon undoes what was cancelled on the way by itself.
    await eventually(async () => expect(await ids()).toEqual(before));
  });
});

describe("a handle's methods", () => {
  it("take what they need alone or among their options, and answer what the flat ones do", async () => {
    const alone = await ws.exec("echo $WORD", { env: { WORD: "yes" } });
    const among = await ws.exec({ command: ["sh", "-c", "echo $WORD"], env: { WORD: "yes" } });
    expect([alone.stdout, among.stdout, alone.command]).toEqual(["yes\n", "yes\n", "echo $WORD"]);
    expect((await ws.logs()).entries.map((one) => one.sequence)).toEqual([1, 2]);
    expect((await at.sdk.logsWorkspace(ws.id)).entries).toEqual((await ws.logs()).entries);
    await expect(ws.exec(undefined as never)).rejects.toThrow(failing("INVALID_ARGUMENT"));
  });

  it("stream text and bytes", async () => {
    const events = [];
    for await (const event of ws.stream(["sh", "-c", "echo out; echo err >&2; exit 3"])) events.push(event);
    expect(events).toEqual(
      expect.arrayContaining([
        { type: "stdout", data: "out\n" },
        { type: "stderr", data: "err\n" },
      ]) as unknown[],
    );
    expect(events.at(-1)).toMatchObject({ type: "exit", exit_code: 3 });

    await using sort = ws.command("sort", { stdin: true });
    await sort.write("b\na\n");
    sort.endInput();
    let text = "";
    for await (const { data } of sort.output()) text += data.toString();
    expect([text, (await sort.result).exit_code]).toEqual(["a\nb\n", 0]);
  });

  it("work on files: read, write, list, patch, diff, export and sync", async () => {
    await ws.files.write("dir/b.sh", "echo b\n", { mode: 0o755 });
    await ws.files.write("c.txt", { text: "c\n" });
    expect((await ws.files.read("a.txt")).content).toBe("one\n");
    expect((await ws.files.list("dir")).entries.map(({ path }) => path)).toEqual(["/workspace/dir/b.sh"]);
    expect((await ws.files.list({ recursive: true })).entries).toHaveLength(4);
    await ws.patch("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n");
    expect(await ws.diff()).toMatchObject({ summary: { added: 2, modified: 1 } });
    await ws.export("dir", at.path("out"));
    expect(readFileSync(at.path("out", "b.sh"), "utf8")).toBe("echo b\n");
    await ws.export("c.txt", { output_path: at.path("c-out") });
    expect(existsSync(at.path("c-out"))).toBe(true);
    await ws.sync(at.path("out"), { dest: "again" });
    expect((await ws.files.read("again/b.sh")).content).toBe("echo b\n");
    const folder = process.cwd();
    try {
      process.chdir(at.root);
      await ws.export("c.txt", "relative-out");
    } finally {
      process.chdir(folder);
    }
    expect(existsSync(at.path("relative-out"))).toBe(true);
  });

  it("save, go back, branch off, tell what happened, and keep `info` at what was last seen", async () => {
    await using own = await at.sdk.workspace({ seed_path: at.path("project") });
    await own.files.write("new.txt", "new\n");
    expect((await own.snapshot("mid")).snapshot.snapshot_name).toBe("mid");
    await using fork = await own.fork({ snapshot: "mid", name: "branch" });
    expect(fork.info.name).toBe("branch");
    expect((await own.reset()).reset_count).toBe(1);
    await expect(own.files.read("new.txt")).rejects.toThrow(failing("FILE_NOT_FOUND"));
    expect((await fork.files.read("new.txt")).content).toBe("new\n");
    expect((await own.snapshots.list()).snapshots.map((one) => one.snapshot_name)).toEqual(["baseline", "mid"]);
    await own.snapshots.delete("mid");

    expect(own.info.reset_count).toBe(0);
    await own.status();
    expect(own.info.reset_count).toBe(1);
    await own.update({ name: "renamed" });
    expect(own.info.name).toBe("renamed");
    expect((await own.summary()).outcome.reset_count).toBe(1);

    await own.stop();
    expect(own.info.state).toBe("stopped");
    expect((await own.disk.list()).entries.map(({ path }) => path)).toEqual(["/workspace/a.txt"]);
    expect((await own.disk.read("a.txt")).content).toBe("one\n");
    await own.disk.export(at.path("disk.tar"), { format: "tar" });
    expect(existsSync(at.path("disk.tar"))).toBe(true);
    await own.start();
    expect(own.info.state).toBe("started");
  });
});

const SERVER = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 8080, Listen => 8) or die;
while (my $c = $s->accept) { <$c>; print $c "HTTP/1.0 200 OK\\r\\n\\r\\nhello"; close $c }`;

describe("a workspace as a harness", () => {
  it("hands output on while the command runs, and gives the result of exec", async () => {
    const heard: string[] = [];
    const result = await ws.exec("printf 'é'; printf no >&2; exit 3", {
      onStdout: (text) => heard.push(`out ${text}`),
      onStderr: (text) => heard.push(`err ${text}`),
    });
    expect(heard.toSorted()).toEqual(["err no", "out é"]);
    expect(result).toMatchObject({ exit_code: 3, stdout: "é", stderr: "no" });
    expect(result).not.toHaveProperty("type");
    const stop = () => {
      throw new Error("enough");
    };
    await expect(ws.exec({ command: "echo x; sleep 1000", onStdout: stop })).rejects.toThrow("enough");
  });

  it("moves its expiry", async () => {
    const left = async (duration: string | number) => {
      const { expires_at: at, last_activity_at: from } = await ws.extend(duration);
      return (at ?? Infinity) - from;
    };
    expect(await left("2h")).toBeCloseTo(7200, 3);
    expect(await left(1800)).toBeCloseTo(1800, 3);
    expect((ws.info.expires_at ?? Infinity) - ws.info.last_activity_at).toBeCloseTo(1800, 3);
    await expect(ws.extend("soon")).rejects.toThrow(failing("INVALID_ARGUMENT"));
  });

  it("maps tasks to forks, in order, and leaves none of them", async () => {
    let most = 0;
    let now = 0;
    let meet = (): void => undefined;
    const bothBegan = new Promise<void>((resolve) => (meet = resolve));
    const results = await ws.map(
      ["a", "b", "c", "d", "e"],
      async (fork, task, { index }) => {
        most = Math.max(most, (now += 1));
        if (now === 2) meet();
        await bothBegan;
        await fork.files.write("task.txt", task);
        const { stdout } = await fork.exec("ls a.txt; cat task.txt");
        now -= 1;
        return `${index} ${stdout}`;
      },
      { concurrency: 2 },
    );
    expect(results).toEqual(["0 a.txt\na", "1 a.txt\nb", "2 a.txt\nc", "3 a.txt\nd", "4 a.txt\ne"]);
    expect(most).toBe(2);
    expect(await ids()).toEqual([ws.id]);
    expect(await ws.map([], () => 1)).toEqual([]);
    await expect(ws.map([1], () => 1, { concurrency: 0 })).rejects.toThrow(failing("INVALID_ARGUMENT"));
  });

  it("stops the other tasks of a map at the first error, and when it is told to", async () => {
    const begun: number[] = [];
    const failed = ws.map(
      [0, 1, 2, 3],
      async (fork, task) => {
        begun.push(task);
        if (task === 1) throw new Error("task 1 failed");
        await fork.exec("sleep 1000", { timeout_seconds: 1000 });
      },
      { concurrency: 2 },
    );
    await expect(failed).rejects.toThrow("task 1 failed");
    expect(begun.every((task) => task < 2)).toBe(true);
    expect(await ids()).toEqual([ws.id]);
    const stop = new AbortController();
    const told = ws.map([0], () => new Promise((_, reject) => (stop.abort(), setImmediate(reject))), {
      signal: stop.signal,
    });
    await expect(told).rejects.toThrow(failing("CANCELLED"));
    expect(await ids()).toEqual([ws.id]);
  });

  it("gives the address of any port, where the policy allows it", async () => {
    await using site = await at.sdk.workspace({ network_policy: "published-ports" });
    await site.service("quiet", ["perl", "-e", SERVER], { readiness: { type: "tcp", port: 8080 } });
    const [url, same] = await Promise.all([site.ports.url(8080), site.ports.url(8080)]);
    expect(same).toBe(url);
    expect(await (await fetch(url)).text()).toBe("hello");
    expect((await site.services.list()).services.map((one) => one.service_name)).toEqual(["port-8080", "quiet"]);
    await expect(ws.ports.url(8080)).rejects.toThrow(failing("NETWORK_POLICY_UNSUPPORTED"));
  });
});

describe("a service's handle", () => {
  it("has the address of what is published, logs and status, and stops what it started with its scope", async () => {
    await using shop = await at.sdk.workspace({ network_policy: "egress+published-ports" });
    {
      await using web = await shop.service("web", ["perl", "-e", SERVER], {
        readiness: { type: "tcp", port: 8080 },
        published_ports: [{ guest_port: 8080 }],
      });
      expect(web.info).toMatchObject({ service_name: "web", state: "running" });
      expect(await (await fetch(web.url(8080))).text()).toBe("hello");
      expect(web.url()).toBe(web.url(8080));
      expect(() => web.url(9)).toThrow(failing("INVALID_ARGUMENT"));
      expect(await web.logs({ tail_lines: 5 })).toMatchObject({ state: "running", stdout: "" });
      {
        await using found = await shop.services.open("web");
        expect(found.url()).toBe(web.url());
      }
      expect((await web.status()).state).toBe("running");
      expect((await shop.services.list()).running_count).toBe(1);
    }
    expect((await shop.services.list()).services).toMatchObject([{ service_name: "web", state: "stopped" }]);
    await expect(shop.services.open("none")).rejects.toThrow(failing("SERVICE_NOT_FOUND"));
  });

  it("ends harmlessly after its workspace was reset, stopped or deleted, and leaves nothing when it does not get ready", async () => {
    const own = await at.sdk.workspace();
    const start = (name: string) => own.service(name, { command: "exec sleep 1000" });
    const first = await start("first");
    await own.reset();
    await first[Symbol.asyncDispose]();
    const second = await start("second");
    await own.stop();
    await second[Symbol.asyncDispose]();
    await own.start();
    const third = await start("third");
    expect(() => third.url()).toThrow(failing("INVALID_ARGUMENT"));
    await own.delete();
    await third[Symbol.asyncDispose]();
    const never = ws.service("never", "exit 3", { readiness: { type: "file", path: "no" } });
    await expect(never).rejects.toThrow(failing("SERVICE_NOT_READY"));
  });
});

describe("a shell's handle", () => {
  it("reads on from where it was, waits for quiet, and is closed with its scope", async () => {
    let id: string;
    {
      await using shell = await ws.shell({ cols: 100, rows: 30 });
      id = shell.id;
      expect(shell.info).toMatchObject({ shell_id: id, cols: 100, state: "running" });
      await shell.write("echo first-$((1+1))");
      expect((await shell.waitForIdle(300)).output).toContain("first-2");
      await shell.write({ input: "echo second-$((1+1))" });
      const { output, cursor } = await shell.waitForIdle(300, { plain: true });
      expect(output).toContain("second-2");
      expect(output).not.toContain("first-2");
      expect(cursor).toBeGreaterThan(0);
      expect((await shell.read({ cursor: 0 })).output).toContain("first-2");
      await shell.resize({ cols: 80, rows: 24 });
      expect(shell.info).toMatchObject({ cols: 80, rows: 24 });
      // It says so when it runs: a shell that has not started it yet would keep the signal to itself.
      await shell.write("sh -c 'echo third-$((1+1)); exec sleep 1000'");
      await expect.poll(async () => (await shell.read({ cursor: 0 })).output).toContain("third-2");
      expect((await shell.signal()).signalled).toBe(true);
      await using attached = shell.attach({ cols: 80, rows: 24 });
      await attached.write("exit 0\n");
      expect((await attached.result).state).toBe("exited");
      await shell.read();
      expect(shell.info.state).toBe("exited");
    }
    await expect(at.sdk.readShell(ws.id, id)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
  });

  it("ends harmlessly when it is closed or its workspace is gone", async () => {
    const own = await at.sdk.workspace();
    const [first, second] = await Promise.all([own.shell(), own.shell()]);
    await first.close();
    expect(first.info.state).toBe("closed");
    await first[Symbol.asyncDispose]();
    await own.delete();
    await second[Symbol.asyncDispose]();
  });
});

it("the example in examples/ repairs its test and leaves nothing", async () => {
  const before = await ids();
  const { code, stdout, stderr } = await runProcess(process.execPath, [join(PROJECT, "examples/sdk.mjs")], {
    env: at.env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/exit 1\n[\s\S]*exit 0\n[\s\S]*^\+/m);
  expect(await ids()).toEqual(before);
});
