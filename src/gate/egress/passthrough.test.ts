import { randomBytes } from "node:crypto";
import { connect } from "node:tls";
import { expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";

const SECRET = `sec-${randomBytes(20).toString("hex")}`;

it("G-41 opens no tunnel to a name that has a secret in it, though the tunnel is nobody's business", async () => {
  await using upstream = await new Upstream().listen([]);
  await using proxy = await new TestProxy({
    routes: [upstream.route("*.raw.example.test", { tls: "passthrough" })],
    guarded: [{ kind: "known_secrets", name: "SECRET", value: SECRET }],
  }).listen();
  const shaken = async (host: string) => {
    const socket = await proxy.tunnel(`${host}:443`);
    const tls = connect({
      socket,
      servername: host,
      ca: [upstream.keys.certificate],
      checkServerIdentity: () => undefined,
    });
    return await new Promise<boolean>((done) =>
      tls
        .once("secureConnect", () => done(true))
        .once("error", () => done(false))
        .once("close", () => done(false)),
    );
  };
  expect(await shaken("ordinary.raw.example.test")).toBe(true);
  const connections = upstream.sockets.size;
  expect(await shaken(`${SECRET}.raw.example.test`)).toBe(false);
  expect(upstream.sockets.size).toBe(connections);
  await expect.poll(() => proxy.events.at(-1)).toMatchObject({ kind: "egress.denied", code: "DLP_BLOCKED", port: 443 });
  expect(JSON.stringify(proxy.events)).not.toContain(SECRET);
});
