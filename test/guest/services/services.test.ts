import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ServiceSandbox, WORKSPACE_ID } from "./service-sandbox.ts";

let sandbox: ServiceSandbox;
beforeAll(async () => {
  sandbox = await ServiceSandbox.start();
  writeFileSync(join(sandbox.workspace, "server.pl"), SERVER);
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
});
beforeEach(() => {
  sandbox.events.told.length = 0;
  sandbox.store.states.length = 0;
});

/** Answers each connection with how much it got, in HTTP's words, with the status of its second argument. Perl is in every Debian. */
const SERVER = `use IO::Socket::INET; $| = 1; $SIG{PIPE} = 'IGNORE';
my ($port, $status) = @ARGV;
my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 50, ReuseAddr => 1) or die "listen: $!";
print "listening\\n";
while (my $c = $s->accept) {
  if (fork == 0) {
    if ($status eq 'count') { local $/; my $all = <$c>; print $c "got " . length($all // ''); }
    elsif ($status eq 'early') { shutdown($c, 1); sleep 1; local $/; my $all = <$c>; print 'read ' . length($all) . "\\n"; }
    else { while (defined(my $h = <$c>)) { last if $h =~ /^\\r?\\n$/ } print $c "HTTP/1.1 $status X\\r\\nContent-Length: 6\\r\\n\\r\\nhello\\n"; }
    close $c; exit 0;
  }
  close $c;
}
`;
const server = (port: number, status = "200") => ["perl", "server.pl", String(port), status];
const NEVER = { type: "file", path: "never" } as const;
const kinds = () => sandbox.events.told.map((event) => event.kind);

const codeOf = (code: string) => expect.objectContaining({ code }) as Error;

describe("start without readiness", () => {
  it("gives a running service, with its record written before it", async () => {
    const service = await sandbox.begin("plain", "pwd; id -u; cat; exec sleep 600", { env: { A: "b" } });
    expect(service).toMatchObject({
      workspace_id: WORKSPACE_ID,
      service_name: "plain",
      state: "running",
      cwd: "/workspace",
      command: "pwd; id -u; cat; exec sleep 600",
      readiness: null,
      ended_at: null,
      exit_code: null,
      published_ports: [],
      execution_mode: "guest_socket",
    });
    expect(service.ready_at).toBeGreaterThanOrEqual(service.started_at);
    expect(sandbox.store.states).toEqual(["plain starting", "plain running"]);
    expect(kinds()).toEqual(["service.started", "service.ready"]);
    expect(sandbox.services.counts(WORKSPACE_ID)).toEqual({ total: 1, running: 1 });
    await untilLogged("plain", "\n1000\n");
    expect((await sandbox.logs("plain")).stdout).toBe("/workspace\n1000\n");
    await expect(sandbox.begin("plain", "true")).rejects.toEqual(codeOf("SERVICE_EXISTS"));
    expect((await sandbox.stop("plain")).state).toBe("stopped");
  });

  it("says why when the program cannot be run", async () => {
    await expect(sandbox.begin("none", ["/no/such/program"])).rejects.toMatchObject({
      code: "SERVICE_NOT_READY",
      message: expect.stringContaining("could not be started") as string,
      details: { service_name: "none", exit_code: 127 },
    });
    expect(await sandbox.status("none")).toMatchObject({ state: "failed", exit_code: 127, ready_at: null });
    expect(sandbox.store.states).toEqual(["none starting", "none failed"]);
    expect(kinds()).toEqual(["service.started", "service.ended"]);
    expect(sandbox.events.told.at(-1)).toMatchObject({ state: "failed" });
  });

  it("is over with the process, whose log stays until the name is started again", async () => {
    // Without a condition it is ready at once; the answer says what has become of it since.
    expect(["running", "exited"]).toContain((await sandbox.begin("short", "echo bye; exit 3")).state);
    const ended = await sandbox.until("short", "exited");
    expect(ended).toMatchObject({ exit_code: 3 });
    expect(ended.ended_at).toBeGreaterThanOrEqual(ended.started_at);
    expect((await sandbox.logs("short")).stdout).toBe("bye\n");
    expect(await sandbox.stop("short")).toEqual(ended);
    await sandbox.begin("short", "echo again");
    await sandbox.until("short", "exited");
    expect((await sandbox.logs("short")).stdout).toBe("again\n");
    const processes = await (await sandbox.live.guest()).processes();
    expect(processes.filter(({ tag }) => tag === "service:short")).toHaveLength(1);
  });

  it("lets a program that daemonises go: the service has exited, its child lives on", async () => {
    await sandbox.begin("daemon", "setsid sleep 617 </dev/null >/dev/null 2>&1 & exit 0");
    expect(await sandbox.until("daemon", "exited")).toMatchObject({ exit_code: 0 });
    const found = "timeout 30 sh -c 'until pgrep -xf \"sleep 617\" >/dev/null; do sleep 0.01; done' && echo lives";
    expect(await sandbox.shell(found)).toBe("lives\n");
    await sandbox.shell("pkill -xf 'sleep 617'");
  });

  it("refuses what it cannot have before anything is written", async () => {
    await expect(sandbox.begin("bad", "true", { cwd: "/etc" })).rejects.toEqual(codeOf("PATH_OUTSIDE_WORKSPACE"));
    await expect(sandbox.begin("bad", "true", { secret_env: { TOKEN: "T" } })).rejects.toEqual(
      codeOf("SECRET_NOT_FOUND"),
    );
    expect(sandbox.store.states).toEqual([]);
    await expect(sandbox.status("bad")).rejects.toEqual(codeOf("SERVICE_NOT_FOUND"));
  });
});

describe("readiness", () => {
  it("by file waits until it is there", async () => {
    const service = await sandbox.begin("file", "sleep 0.3; mkdir -p out; touch out/ready; exec sleep 600", {
      readiness: { type: "file", path: "/workspace/out/ready" },
    });
    expect(service.ready_at! - service.started_at).toBeGreaterThan(0.25);
    await sandbox.stop("file");
  });

  it("by TCP waits until the port listens", async () => {
    const service = await sandbox.begin("tcp", `sleep 0.3; exec ${server(7101).join(" ")}`, {
      readiness: { type: "tcp", port: 7101 },
    });
    expect(service.state).toBe("running");
    expect(service.ready_at! - service.started_at).toBeGreaterThan(0.25);
    await sandbox.stop("tcp");
  });

  it("by HTTP takes 2xx and 3xx and nothing else", async () => {
    for (const [index, status] of ["204", "302"].entries()) {
      const readiness = { type: "http", url: `http://localhost:${7110 + index}/health?x=1` } as const;
      expect((await sandbox.begin("web", server(7110 + index, status), { readiness })).state).toBe("running");
      await sandbox.stop("web");
    }
    const readiness = { type: "http", url: "http://[::1]:7112/" } as const;
    const failing = sandbox.begin("web", server(7112, "500"), { readiness, ready_timeout_seconds: 0.5 });
    await expect(failing).rejects.toMatchObject({
      message: expect.stringContaining("not ready within 0.5 s") as string,
    });
  });

  it.each([
    "http://192.0.2.1/",
    "http://127.0.0.1.example.com/",
    "https://127.0.0.1/",
    "http://user@127.0.0.1/",
    "http://0.0.0.0/",
    "http://127.0.0.1:0/",
    "ftp://localhost/",
    "nothing",
  ])("refuses the URL %s before anything starts", async (url) => {
    await expect(sandbox.begin("outside", "sleep 600", { readiness: { type: "http", url } })).rejects.toEqual(
      codeOf("INVALID_ARGUMENT"),
    );
    expect(sandbox.store.states).toEqual([]);
  });

  it("by command waits for exit code 0, as the agent in the workspace", async () => {
    const service = await sandbox.begin("command", "sleep 0.3; echo yes > go.txt; exec sleep 600", {
      readiness: { type: "command", command: "test $(id -u) = 1000 && grep -q yes go.txt" },
    });
    expect(service.ready_at! - service.started_at).toBeGreaterThan(0.25);
    await sandbox.stop("command");
  });

  it("fails with the exit code and the last lines when the service dies first", async () => {
    const script = "seq 1 50; echo the-reason >&2; exit 7";
    const error: unknown = await sandbox.begin("dies", script, { readiness: NEVER }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "SERVICE_NOT_READY",
      details: { service_name: "dies", exit_code: 7, stderr: "the-reason\n" },
    });
    const { message } = error as Error;
    expect(message).toMatch(/exit code 7[^]*\n49\n50\nthe-reason$/);
    expect(message.split("\n")).toHaveLength(21);
    expect(await sandbox.status("dies")).toMatchObject({ state: "failed", exit_code: 7, ready_at: null });
    expect(kinds()).toEqual(["service.started", "service.ended"]);
    expect(sandbox.events.told.at(-1)).toMatchObject({ state: "failed" });
    expect((await sandbox.logs("dies", { all: true })).stdout).toMatch(/^1\n2\n/);
  });

  it("ends the whole of a service that is not ready in time", async () => {
    const script = "echo still-here; setsid sleep 611 & trap '' TERM; sleep 611";
    await expect(
      // time enough to begin, on a machine that is busy
      sandbox.begin("never", script, { readiness: NEVER, ready_timeout_seconds: 2 }),
    ).rejects.toMatchObject({ code: "SERVICE_NOT_READY", message: expect.stringContaining("still-here") as string });
    expect(await sandbox.status("never")).toMatchObject({ state: "failed", exit_code: 137 });
    expect(await sandbox.shell("pgrep -xf 'sleep 611' | wc -l")).toBe("0\n");
  });

  it("that a client gave up waiting for ends the service", async () => {
    const controller = new AbortController();
    const started = sandbox.begin("given-up", "touch begun; exec sleep 612", {
      readiness: { type: "command", command: "touch asked; false" },
      signal: controller.signal,
    });
    while ((await sandbox.shell("ls asked 2>/dev/null")) === "") await sandbox.live.guest();
    const reason = new Error("went away");
    controller.abort(reason);
    await expect(started).rejects.toBe(reason);
    expect(await sandbox.status("given-up")).toMatchObject({ state: "failed", exit_code: 137 });
    expect(await sandbox.shell("pgrep -xf 'sleep 612' | wc -l")).toBe("0\n");
  });

  it("ends with a stop that comes meanwhile", async () => {
    const started = sandbox
      .begin("stopped-early", "exec sleep 613", { readiness: NEVER })
      .catch((error: unknown) => error);
    await sandbox.until("given-up", "failed");
    while (!sandbox.events.told.some((event) => event.kind === "service.started"))
      await (await sandbox.live.guest()).ping();
    expect(await sandbox.stop("stopped-early")).toMatchObject({ state: "stopped", exit_code: 143 });
    expect(await started).toMatchObject({
      code: "SERVICE_NOT_READY",
      message: expect.stringContaining("was stopped before") as string,
    });
  });

  it("takes only one start of a name at a time", async () => {
    const both = await Promise.allSettled([
      sandbox.begin("twice", "exec sleep 600"),
      sandbox.begin("twice", "exec sleep 600"),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(both[1]).toMatchObject({ reason: codeOf("SERVICE_EXISTS") });
    await sandbox.stop("twice");
  });
});

describe("stop", () => {
  it("sends TERM to the group and keeps the exit code", async () => {
    const script = `trap 'echo cleanup; exit 9' TERM; echo up; touch polite; sleep 600 & wait`;
    await sandbox.begin("polite", script, { readiness: { type: "file", path: "polite" } });
    expect(await sandbox.stop("polite")).toMatchObject({ state: "stopped", exit_code: 9 });
    expect((await sandbox.logs("polite")).stdout).toBe("up\ncleanup\n");
    expect(kinds()).toEqual(["service.started", "service.ready", "service.ended"]);
    expect(sandbox.events.told.at(-1)).toMatchObject({ exit_code: 9 });
  });

  it("kills the whole tree of one that ignores TERM", async () => {
    const script = "trap '' TERM; touch deaf; (setsid sh -c 'trap \"\" TERM; sleep 614') & while :; do sleep 1; done";
    await sandbox.begin("deaf", script, { readiness: { type: "file", path: "deaf" } });
    const began = Date.now();
    expect(await sandbox.stop("deaf")).toMatchObject({ state: "stopped", exit_code: 137 });
    expect(Date.now() - began).toBeGreaterThan(4500);
    expect(await sandbox.shell("pgrep -f 'sleep 61[4]' | wc -l")).toBe("0\n");
  }, 20_000);

  it("of a name that is not there is an error", async () => {
    await expect(sandbox.stop("nothing")).rejects.toEqual(codeOf("SERVICE_NOT_FOUND"));
  });
});

describe("logs", () => {
  it("are tailed by line, each channel on its own", async () => {
    await sandbox.begin("lines", "seq 1 300; echo oops >&2; printf last; touch lines; exec sleep 600", {
      readiness: { type: "file", path: "lines" },
    });
    const logs = await sandbox.logs("lines");
    expect(logs).toMatchObject({ state: "running", stderr: "oops\n", tail_lines: 200, truncated: true });
    expect(logs.stdout.split("\n")[0]).toBe("102");
    expect(await sandbox.logs("lines", { tail_lines: 2 })).toMatchObject({ stdout: "300\nlast", tail_lines: 2 });
    expect(await sandbox.logs("lines", { all: true })).toMatchObject({ tail_lines: null, truncated: false });
    expect((await sandbox.logs("lines", { tail_lines: 301 })).truncated).toBe(false);
    await sandbox.stop("lines");
  });

  it("hold the last mebibyte of a flood of 1 GiB, which blocks nothing and grows nothing", async () => {
    const before = process.memoryUsage().rss;
    await sandbox.begin("flood", "yes 0123456789abcdef | head -c 1073741824; echo the-end");
    const during = await sandbox.logs("flood", { all: true });
    expect(during.stdout.length).toBeLessThanOrEqual(1_200_000);
    expect(await untilEnd("flood")).toMatchObject({ exit_code: 0 });
    const logs = await sandbox.logs("flood", { all: true });
    expect(logs.truncated).toBe(true);
    expect(logs.stdout.startsWith("0123456789abcdef\n")).toBe(true);
    expect(logs.stdout.endsWith("the-end\n")).toBe(true);
    expect(logs.stdout.length).toBeGreaterThan(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  }, 240_000);

  it("have no secret in them, nor have errors and records", async () => {
    await sandbox.nextDaemon({ TOKEN: "hunter2-hunter2" });
    await sandbox.begin(
      "secret",
      `echo "is $T"; echo hunter2-hunter2 >&2; printf hunter2-; touch told; exec sleep 600`,
      {
        secret_env: { TOKEN: "T" },
        readiness: { type: "command", command: "test -e told && : hunter2-hunter2" },
      },
    );
    expect(await sandbox.logs("secret")).toMatchObject({ stdout: "is [REDACTED]\n", stderr: "[REDACTED]\n" });
    await sandbox.stop("secret");
    const error: unknown = await sandbox
      .begin("secret-2", ["sh", "-c", 'echo "$T" >&2; exit 1'], { secret_env: { TOKEN: "T" }, readiness: NEVER })
      .catch((reason: unknown) => reason);
    expect((error as Error).message).toMatch(/\n\[REDACTED\]$/);
    expect(JSON.stringify([error, sandbox.store.listServices(WORKSPACE_ID)])).not.toContain("hunter2-hunter2");
    await sandbox.nextDaemon();
  });
});

/** As long as a flood takes. */
async function untilEnd(name: string) {
  for (;;) {
    const service = await sandbox.status(name);
    if (service.state !== "running") return service;
    await sandbox.logs(name);
  }
}

/** Until a service has printed that; it may have no record yet. */
async function untilLogged(name: string, words: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await sandbox.logs(name).catch(() => undefined))?.stdout.includes(words)) {
    if (Date.now() > deadline) throw new Error(`${name} has not printed ${words}`);
    await (await sandbox.live.guest()).ping();
  }
}

const published = "published-ports" as const;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function dial(port: number): Socket {
  return connect({ host: "127.0.0.1", port, allowHalfOpen: true });
}

async function ask(port: number, bytes = 10): Promise<string> {
  const socket = dial(port);
  socket.end(Buffer.alloc(bytes));
  return await text(socket);
}

describe("published ports", () => {
  it.each(["off", "egress"] as const)("are refused with the policy %s", async (networkPolicy) => {
    await expect(
      sandbox.begin("no-ports", server(7200), { networkPolicy, published_ports: [{ guest_port: 7200 }] }),
    ).rejects.toMatchObject({
      code: "NETWORK_POLICY_UNSUPPORTED",
      hint: expect.stringMatching(/create --from-workspace ws-\S+ --network-policy published-ports`$/) as string,
    });
    expect(sandbox.store.states).toEqual([]);
  });

  it("relay both ways, each with its own end, until the service is stopped", async () => {
    const hostPort = await freePort();
    const service = await sandbox.begin("web", server(7201, "count"), {
      networkPolicy: published,
      readiness: { type: "tcp", port: 7201 },
      published_ports: [
        { guest_port: 7201, host_port: hostPort },
        { guest_port: 7201, host_port: 0 },
      ],
    });
    const chosen = service.published_ports[1]!.host_port;
    expect(service.published_ports[0]).toEqual({ guest_port: 7201, host_port: hostPort, host: "127.0.0.1" });
    expect(chosen).toBeGreaterThan(0);
    expect(await Promise.all([ask(hostPort, 3_000_000), ask(chosen), ask(chosen, 0)])).toEqual([
      "got 3000000",
      "got 10",
      "got 0",
    ]);
    const open = dial(hostPort);
    await once(open, "connect");
    const ended = once(open, "close");
    open
      .on("error", () => undefined)
      .resume()
      .on("end", () => open.end());
    expect((await sandbox.stop("web")).published_ports).toEqual([]);
    await ended;
    await expect(ask(hostPort)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(ask(chosen)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("deliver all to a server that has ended its own half long before", async () => {
    const service = await sandbox.begin("early", server(7206, "early"), {
      networkPolicy: published,
      readiness: { type: "tcp", port: 7206 },
      published_ports: [{ guest_port: 7206 }],
    });
    // not read by iteration, which would end the other half too
    const socket = dial(service.published_ports[0]!.host_port).resume();
    socket.end(Buffer.alloc(20_000_000));
    await once(socket, "close");
    await untilLogged("early", "read 20000000");
    await sandbox.stop("early");
  });

  it("that are taken keep the service from starting", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const taken = (holder.address() as AddressInfo).port;
    const free = await freePort();
    await expect(
      sandbox.begin("taken", "touch was-started; sleep 600", {
        networkPolicy: published,
        published_ports: [
          { guest_port: 7202, host_port: free },
          { guest_port: 7202, host_port: taken },
        ],
      }),
    ).rejects.toEqual(codeOf("PORT_TAKEN"));
    holder.close();
    expect(sandbox.store.states).toEqual([]);
    expect(await sandbox.shell("ls was-started 2>/dev/null")).toBe("");
    await expect(ask(free)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("answer nobody before the service is ready, and nobody when it exits or fails", async () => {
    const hostPort = await freePort();
    const ports = [{ guest_port: 7203, host_port: hostPort }];
    const wait = (name: string) => `until test -e ${name}; do sleep 0.02; done`;
    const script = `${server(7203, "count").join(" ")} & ${wait("get-ready")}; touch ok; ${wait("exit-now")}`;
    const started = sandbox.begin("late", script, {
      networkPolicy: published,
      readiness: { type: "file", path: "ok" },
      published_ports: ports,
    });
    await untilLogged("late", "listening");
    await expect(ask(hostPort)).rejects.toMatchObject({ code: "ECONNRESET" });
    await sandbox.shell("touch get-ready");
    await started;
    expect(await ask(hostPort)).toBe("got 10");
    await sandbox.shell("touch exit-now");
    await sandbox.until("late", "exited");
    await expect(ask(hostPort)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const failing = sandbox.begin("late", "exit 1", {
      networkPolicy: published,
      readiness: NEVER,
      published_ports: ports,
    });
    await expect(failing).rejects.toEqual(codeOf("SERVICE_NOT_READY"));
    expect(await sandbox.status("late")).toMatchObject({ state: "failed", published_ports: [] });
    await expect(ask(hostPort)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await sandbox.shell("pkill perl");
  });

  it("reset a connection that nobody in the sandbox takes, and only that", async () => {
    const service = await sandbox.begin("empty", "exec sleep 600", {
      networkPolicy: published,
      published_ports: [{ guest_port: 7204 }],
    });
    const port = service.published_ports[0]!.host_port;
    await expect(ask(port)).rejects.toMatchObject({ code: "ECONNRESET" });
    const other = await sandbox.begin("filled", server(7204, "count"), { readiness: { type: "tcp", port: 7204 } });
    expect(other.state).toBe("running");
    expect(await ask(port)).toBe("got 10");
    await Promise.all([sandbox.stop("empty"), sandbox.stop("filled")]);
  });

  it("hold 256 connections and no more: the longest silent one makes room (G-25)", async () => {
    const service = await sandbox.begin("many", server(7205, "count"), {
      networkPolicy: published,
      readiness: { type: "tcp", port: 7205 },
      published_ports: [{ guest_port: 7205 }],
    });
    const port = service.published_ports[0]!.host_port;
    const held = Array.from({ length: 256 }, () => dial(port).on("error", () => undefined));
    await Promise.all(held.map((socket) => once(socket, "connect")));
    expect(await ask(port, 0)).toBe("got 0");
    await expect.poll(() => held.flatMap(({ destroyed }, at) => (destroyed ? [at] : []))).toEqual([0]);
    held[1]!.end();
    expect(await text(held[1]!)).toBe("got 0");
    await sandbox.stop("many");
    for (const socket of held) socket.destroy();
  }, 20_000);
});

describe("adopt", () => {
  it("takes up what runs, with its ports and its log, and learns of its end", async () => {
    const service = await sandbox.begin("kept", server(7301, "count"), {
      networkPolicy: published,
      readiness: { type: "tcp", port: 7301 },
      published_ports: [{ guest_port: 7301 }],
    });
    await sandbox.begin("ended-meanwhile", "while ! test -e end-now; do sleep 0.05; done; exit 4");
    await sandbox.nextDaemon();
    const port = service.published_ports[0]!.host_port;
    await expect(ask(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await sandbox.status("kept")).toEqual(service);
    await sandbox.shell("touch end-now");
    const ended = async () =>
      (await (await sandbox.live.guest()).processes()).some(
        ({ tag, exit }) => tag === "service:ended-meanwhile" && exit,
      );
    while (!(await ended())); // before it is adopted
    await sandbox.services.adopt(sandbox.live);
    expect(await sandbox.until("ended-meanwhile", "exited")).toMatchObject({ exit_code: 4 });
    expect(await ask(port)).toBe("got 10");
    expect(await sandbox.status("kept")).toEqual(service);
    expect((await sandbox.logs("kept")).stdout).toBe("listening\n");
    await expect(sandbox.begin("kept", "true")).rejects.toEqual(codeOf("SERVICE_EXISTS"));
    await sandbox.shell("pkill perl");
    expect(await sandbox.until("kept", "exited")).toMatchObject({ exit_code: 143 });
    await expect(ask(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("goes on without a port that somebody took meanwhile", async () => {
    const service = await sandbox.begin("robbed", "exec sleep 600", {
      networkPolicy: published,
      published_ports: [{ guest_port: 7302 }],
    });
    await sandbox.nextDaemon();
    const thief = createServer().listen(service.published_ports[0]!.host_port, "127.0.0.1");
    await once(thief, "listening");
    await sandbox.services.adopt(sandbox.live);
    thief.close();
    expect(await sandbox.status("robbed")).toMatchObject({ state: "running", published_ports: [] });
    await sandbox.stop("robbed");
  });

  it("ends what was still starting, marks what is gone and forgets what no record has", async () => {
    const begun = sandbox.begin("halfway", "exec sleep 615", { readiness: NEVER }).catch((error: unknown) => error);
    while (!sandbox.events.told.some((event) => event.kind === "service.started"))
      await (await sandbox.live.guest()).ping();
    await sandbox.nextDaemon();
    expect(await begun).toMatchObject({ code: "SANDBOX_LOST" });
    expect(await sandbox.status("halfway")).toMatchObject({ state: "starting" });
    const { store } = sandbox;
    store.putService(WORKSPACE_ID, {
      ...store.findService(WORKSPACE_ID, "halfway")!,
      serviceName: "gone",
      state: "running",
    });
    const guest = await sandbox.live.guest();
    const stray = guest.spawn({
      argv: ["sleep", "616"],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      user: { uid: 1000, gid: 1000 },
      keep: true,
      tag: "service:stray",
    });
    await stray.started;
    await sandbox.services.adopt(sandbox.live);
    expect(await sandbox.status("halfway")).toMatchObject({ state: "failed", exit_code: 137 });
    expect(await sandbox.status("gone")).toMatchObject({ state: "failed", exit_code: null });
    expect(await sandbox.shell("pgrep -f 'sleep 61[56]' | wc -l")).toBe("0\n");
    await sandbox.begin("halfway", "true");
    await sandbox.until("halfway", "exited");
  });
});

describe("release", () => {
  it("closes ports and marks what ran as stopped", async () => {
    const service = await sandbox.begin("released", "exec sleep 600", {
      networkPolicy: published,
      published_ports: [{ guest_port: 7401 }],
    });
    await sandbox.services.release(WORKSPACE_ID, { keepRecords: true });
    expect(await sandbox.status("released")).toMatchObject({ state: "stopped", exit_code: null });
    await expect(ask(service.published_ports[0]!.host_port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(kinds()).toEqual(["service.started", "service.ready", "service.ended"]);
  });

  it("ends a start under way, and writes nothing without keepRecords", async () => {
    const started = sandbox.begin("cut-off", "exec sleep 600", { readiness: NEVER }).catch((error: unknown) => error);
    while (!sandbox.events.told.some((event) => event.kind === "service.started"))
      await (await sandbox.live.guest()).ping();
    await sandbox.services.release(WORKSPACE_ID, { keepRecords: false });
    expect(await started).toMatchObject({ code: "SERVICE_NOT_READY" });
    expect(sandbox.store.states).toEqual(["cut-off starting"]);
    expect(kinds()).toEqual(["service.started"]);
  });
});

describe("a sandbox that ends", () => {
  it("takes its services with it", async () => {
    await using other = await ServiceSandbox.start();
    await other.begin("lost", "exec sleep 600");
    const starting = other.begin("starting", "exec sleep 600", { readiness: NEVER }).catch((error: unknown) => error);
    await other.kill();
    expect(await starting).toMatchObject({ code: "SANDBOX_LOST" });
    while ((await other.status("lost")).state === "running") await new Promise((resolve) => setImmediate(resolve));
    expect(await other.status("lost")).toMatchObject({ state: "failed", exit_code: null });
    expect(await other.status("starting")).toMatchObject({ state: "failed" });
  }, 20_000);
});
