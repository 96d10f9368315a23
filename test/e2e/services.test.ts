import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "../../src/model/service.ts";
import type { StartServiceOptions } from "../../src/sdk/options.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

/** Answers every request with its own pid; Perl is in every environment. */
const WEB = `use IO::Socket::INET; $| = 1; $SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 5, ReuseAddr => 1) or die "listen: $!";
print "listening\\n";
while (my $c = $s->accept) { while (defined(my $h = <$c>)) { last if $h =~ /^\\r?\\n$/ }
  my $b = "pid $$\\n"; print $c "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($b) . "\\r\\nConnection: close\\r\\n\\r\\n$b"; close $c }`;
const web: Pick<StartServiceOptions, "command" | "readiness"> = {
  command: ["perl", "-e", WEB],
  readiness: { type: "http", url: "http://127.0.0.1:8080/" },
};

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("sv");
  id = await create();
});
afterAll(() => at[Symbol.asyncDispose]());

async function create(): Promise<string> {
  const made = await at.sdk.createWorkspace({ environment: "host", network_policy: "published-ports" });
  return made.workspace_id;
}
const portOf = ({ published_ports: [port] }: Service): number => port?.host_port ?? 0;
const get = async (port: number): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } })).text();
/** Whether nobody listens there: then we can. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen({ host: "127.0.0.1", port, exclusive: true }), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
/** In the sandbox, by their command line; the bracket keeps the search from finding itself. */
const processes = async (workspace: string, pattern: string) =>
  Number((await at.sdk.execWorkspace(workspace, { command: `pgrep -fc '${pattern}' || true` })).stdout);

describe("a service that does not get ready", () => {
  it("in time is ended, whole group, and the error has its last lines", async () => {
    const starting = at.sdk.startService(id, "never", {
      command: "echo booting; echo oh no >&2; sleep 71.5 & sleep 71.5; echo never",
      readiness: { type: "tcp", port: 9999 },
      ready_timeout_seconds: 2.5, // time enough to say so, on a machine that is busy
    });
    await expect(starting).rejects.toThrow(failing("SERVICE_NOT_READY", "not ready within 2.5 s"));
    await expect(starting).rejects.toThrow(failing("SERVICE_NOT_READY", "oh no"));
    expect(await at.sdk.statusService(id, "never")).toMatchObject({
      state: "failed",
      exit_code: expect.any(Number) as number,
    });
    await eventually(async () => expect(await processes(id, "sleep 71[.]5")).toBe(0));
  });

  it("because it dies at once is told at once, with its exit code", async () => {
    const starting = at.sdk.startService(id, "dies", {
      command: "echo cannot bind >&2; exit 7",
      readiness: { type: "file", path: "never" },
      ready_timeout_seconds: 600, // longer than this test may take
    });
    await expect(starting).rejects.toThrow(failing("SERVICE_NOT_READY", "exit code 7"));
    await expect(starting).rejects.toThrow(failing("SERVICE_NOT_READY", "cannot bind"));
    expect(await at.sdk.statusService(id, "dies")).toMatchObject({ state: "failed", exit_code: 7 });
    expect(await at.sdk.startService(id, "dies", { command: "sleep 600" }), "the name is free again").toMatchObject({
      state: "running",
    });
    await at.sdk.stopService(id, "dies");
    await expect(at.sdk.startService(id, "nothing", { command: ["/no/such"] })).rejects.toThrow(
      failing("SERVICE_NOT_READY", "could not be started"),
    );
  });

  it("because it daemonises: the first process has ended, so the service has", async () => {
    const starting = at.sdk.startService(id, "daemon", {
      command: "(setsid sleep 72.5 > /dev/null 2>&1 &); exit 0",
      readiness: { type: "tcp", port: 9998 },
      ready_timeout_seconds: 5,
    });
    await expect(starting).rejects.toThrow(failing("SERVICE_NOT_READY", "exit code 0"));
    expect(await at.sdk.statusService(id, "daemon")).toMatchObject({ state: "failed", exit_code: 0 });
  });

  it.each([
    ["http://example.com/", "INVALID_ARGUMENT"],
    ["http://10.0.0.1:80/", "INVALID_ARGUMENT"],
    ["http://127.0.0.1.example.com/", "INVALID_ARGUMENT"],
    ["https://127.0.0.1/", "INVALID_ARGUMENT"],
    ["http://user@127.0.0.1@example.com/", "INVALID_ARGUMENT"],
    ["file:///etc/passwd", "INVALID_ARGUMENT"],
    ["nonsense", "INVALID_ARGUMENT"],
  ])("readiness %s is refused before anything starts", async (url, code) => {
    const starting = at.sdk.startService(id, "outside", { command: "sleep 600", readiness: { type: "http", url } });
    await expect(starting).rejects.toThrow(failing(code));
    await expect(at.sdk.statusService(id, "outside")).rejects.toThrow(failing("SERVICE_NOT_FOUND", '"outside"'));
  });

  it("because its name, its readiness or its command is no such thing is refused", async () => {
    for (const name of ["", "a b", "../x", "x".repeat(65)])
      await expect(at.sdk.startService(id, name, { command: "true" }), name).rejects.toThrow(
        failing("INVALID_ARGUMENT"),
      );
    await expect(
      at.sdk.startService(id, "bad", { command: "true", readiness: { type: "file", path: "/etc/passwd" } }),
    ).rejects.toThrow(failing("PATH_OUTSIDE_WORKSPACE"));
    await expect(
      at.sdk.startService(id, "bad", { command: "true", readiness: { type: "tcp", port: 0 } }),
    ).rejects.toThrow(failing("INVALID_ARGUMENT"));
    await expect(at.sdk.stopService(id, "bad")).rejects.toThrow(failing("SERVICE_NOT_FOUND"));
    await expect(at.sdk.logsService(id, "bad")).rejects.toThrow(failing("SERVICE_NOT_FOUND"));
  });
});

describe("a log", () => {
  it("of 1 GiB is bounded in the sandbox and in the answer, keeps its end, and holds nobody up", async () => {
    await at.sdk.startService(id, "flood", {
      command: 'perl -e \'$l = ("x" x 1023) . "\\n"; print $l for 1..1048576; print "the end\\n"\'; sleep 600',
    });
    expect((await at.sdk.execWorkspace(id, { command: "echo beside" })).stdout).toBe("beside\n");
    await eventually(
      async () => expect((await at.sdk.logsService(id, "flood", { tail_lines: 1 })).stdout).toBe("the end\n"),
      40,
    );
    const all = await at.sdk.logsService(id, "flood", { all: true });
    expect(all).toMatchObject({ truncated: true, tail_lines: null, state: "running" });
    expect(all.stdout.endsWith("the end\n")).toBe(true);
    expect(all.stdout.length).toBeLessThan(32 * 1024 * 1024);
    expect(
      (await at.sdk.execWorkspace(id, { command: "du -sk /workspace | cut -f1" })).stdout,
      "none of it in /workspace",
    ).toMatch(/^\d{1,2}\n$/);
    expect(await at.sdk.stopService(id, "flood")).toMatchObject({ state: "stopped" });
  });
});

describe("published ports", () => {
  it("that are taken, refused or not asked for: a clear error, and nothing starts", async () => {
    const other: Server = createServer().listen({ host: "127.0.0.1", port: 0 });
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const free = createServer().listen({ host: "127.0.0.1", port: 0 });
    await once(free, "listening");
    const { port: first } = free.address() as { port: number };
    await new Promise((done) => free.close(done));
    await expect(
      at.sdk.startService(id, "taken", {
        ...web,
        published_ports: [
          { guest_port: 8080, host_port: first },
          { guest_port: 8080, host_port: port },
        ],
      }),
    ).rejects.toThrow(failing("PORT_TAKEN", String(port)));
    expect(await isFree(first), "the other port was given back").toBe(true);
    await expect(at.sdk.statusService(id, "taken")).rejects.toThrow(failing("SERVICE_NOT_FOUND"));
    other.close();
    for (const bad of [{ guest_port: 0 }, { guest_port: 70_000 }, { guest_port: 80, host_port: -1 }])
      await expect(at.sdk.startService(id, "bad", { ...web, published_ports: [bad] })).rejects.toThrow(
        failing("INVALID_ARGUMENT"),
      );
    const closed = await at.sdk.createWorkspace({ environment: "host" });
    await expect(
      at.sdk.startService(closed.workspace_id, "web", { ...web, published_ports: [{ guest_port: 8080 }] }),
    ).rejects.toThrow(failing("NETWORK_POLICY_UNSUPPORTED"));
    await at.sdk.deleteWorkspace(closed.workspace_id);
  });

  it("port 0 chooses one; it is gone after stop of the service, reset, stop and delete of the workspace", async () => {
    const own = await create();
    const start = () =>
      at.sdk.startService(own, "web", { ...web, published_ports: [{ guest_port: 8080, host_port: 0 }] });
    const first = await start();
    expect(first.published_ports).toEqual([
      { guest_port: 8080, host_port: expect.any(Number) as number, host: "127.0.0.1" },
    ]);
    expect(await get(portOf(first))).toMatch(/^pid \d+\n$/);
    await at.sdk.stopService(own, "web");
    expect(await isFree(portOf(first)), "after its stop").toBe(true);
    const second = portOf(await start());
    await at.sdk.resetWorkspace(own);
    expect(await isFree(second), "after a reset").toBe(true);
    expect((await at.sdk.listServices(own)).services).toEqual([]);
    const third = portOf(await start());
    await at.sdk.stopWorkspace(own);
    expect(await isFree(third), "after a stop").toBe(true);
    expect((await at.sdk.listServices(own)).services).toMatchObject([{ service_name: "web", state: "stopped" }]);
    await at.sdk.startWorkspace(own);
    expect(await isFree(third), "a start starts no services").toBe(true);
    const fourth = portOf(await start());
    expect(await get(fourth)).toMatch(/^pid/);
    await at.sdk.deleteWorkspace(own);
    expect(await isFree(fourth), "after a delete").toBe(true);
  });

  it("after kill -9 of the daemon the service is the same, on the same port, and can be stopped", async () => {
    const own = await create();
    const service = await at.sdk.startService(own, "web", { ...web, published_ports: [{ guest_port: 8080 }] });
    const port = portOf(service);
    const before = await get(port);
    await at.sdk.startService(own, "brief", { command: "sleep 1; exit 9" });
    await killDaemon(at);
    await eventually(async () => expect(await isFree(port), "nobody listens without a daemon").toBe(true));
    await new Promise((done) => setTimeout(done, 1200)); // brief ends while nobody looks
    expect(await at.sdk.statusService(own, "web")).toMatchObject({
      state: "running",
      ready_at: service.ready_at,
      published_ports: service.published_ports,
    });
    expect(await get(port)).toBe(before);
    await eventually(async () =>
      expect(await at.sdk.statusService(own, "brief")).toMatchObject({ state: "exited", exit_code: 9 }),
    );
    expect((await at.sdk.logsService(own, "web")).stdout).toBe("listening\n");
    await expect(at.sdk.startService(own, "web", web)).rejects.toThrow(failing("SERVICE_EXISTS"));
    expect(await at.sdk.stopService(own, "web")).toMatchObject({ state: "stopped" });
    expect(await isFree(port)).toBe(true);
    await at.sdk.stopDaemon();
    await at.sdk.startService(own, "web", { ...web, published_ports: [{ guest_port: 8080, host_port: port }] });
    expect(await get(port)).toMatch(/^pid/);
    await at.sdk.stopDaemon();
    await at.sdk.listWorkspaces();
    expect(await get(port), "and after an orderly end").toMatch(/^pid/);
    await at.sdk.deleteWorkspace(own);
    expect(await isFree(port)).toBe(true);
  });
});
