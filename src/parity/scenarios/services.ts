import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { scenarios } from "../scenario.ts";
import { getPage, web } from "../web-service.ts";

export const SERVICE_SCENARIOS = scenarios("services", {
  "a service is started, listed, read and stopped": async (at) => {
    const id = await at.shared();
    const started = await at.client.startService(id, "app", {
      command: "echo up; echo err >&2; touch ready; exec sleep 600",
      readiness: { type: "file", path: "ready" },
    });
    assert.deepEqual(
      [started.state, started.command, started.cwd],
      ["running", "echo up; echo err >&2; touch ready; exec sleep 600", "/workspace"],
    );
    const listed = await at.client.listServices(id);
    assert.deepEqual([listed.count, listed.running_count], [1, 1]);
    const logs = await at.client.logsService(id, "app");
    assert.deepEqual([logs.stdout, logs.stderr, logs.truncated], ["up\n", "err\n", false]);
    assert.equal(await at.refusal(at.client.startService(id, "app", { command: "true" })), "SERVICE_EXISTS");
    assert.equal((await at.client.stopService(id, "app")).state, "stopped");
    assert.equal(await at.refusal(at.client.statusService(id, "nobody")), "SERVICE_NOT_FOUND");
  },
  "a service is ready when its port, its page, its file or its command says so": async (at) => {
    const id = await at.shared();
    const ready = [
      { type: "http", url: "http://127.0.0.1:8080/" },
      { type: "tcp", port: 8080 },
      { type: "command", command: "test -e /workspace/README.md" },
    ] as const;
    for (const readiness of ready) {
      const started = await at.client.startService(id, "web", { ...web, readiness });
      assert.equal(started.state, "running", JSON.stringify(readiness));
      assert.ok(started.ready_at !== null);
      await at.client.stopService(id, "web");
    }
  },
  "a service that does not get ready is ended, and the error has its last lines": async (at) => {
    const id = await at.shared();
    const failing = at.client.startService(id, "never", {
      command: "echo oh no >&2; sleep 666",
      readiness: { type: "tcp", port: 9 },
      ready_timeout_seconds: 3, // time enough to say so, on a machine that is busy
    });
    await assert.rejects(failing, /oh no/);
    assert.equal(
      await at.refusal(
        at.client.startService(id, "dies", { command: "exit 7", readiness: { type: "file", path: "never" } }),
      ),
      "SERVICE_NOT_READY",
    );
    assert.equal((await at.client.statusService(id, "dies")).exit_code, 7);
    await at.eventually(async () =>
      assert.equal(
        await at.out(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 66[6]' || true"),
        "0\n",
      ),
    );
  },
  "a published port leads to the service, and closes with it": async (at) => {
    const id = await at.create({ network_policy: "published-ports" });
    const { published_ports: ports } = await at.client.startService(id, "web", {
      ...web,
      published_ports: [{ guest_port: 8080 }],
    });
    const port = ports[0]?.host_port ?? 0;
    assert.equal(ports[0]?.host, "127.0.0.1");
    const pages = await Promise.all([getPage(port), getPage(port), getPage(port)]);
    assert.deepEqual(pages, ["served\n", "served\n", "served\n"]);
    await at.client.stopService(id, "web");
    const socket = connect(port, "127.0.0.1");
    await assert.rejects(once(socket, "connect"), /ECONNREFUSED/);
  },
  "a port cannot be published where the policy says no": async (at) => {
    const id = await at.shared();
    const code = await at.refusal(
      at.client.startService(id, "web", { ...web, published_ports: [{ guest_port: 8080 }] }),
    );
    assert.equal(code, "NETWORK_POLICY_UNSUPPORTED");
    assert.equal(await at.refusal(at.create({ network_policy: "egress" })), "INVALID_ARGUMENT");
  },
});
