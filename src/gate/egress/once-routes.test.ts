import { afterAll, beforeAll, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import { SuperviseGate } from "../supervise/supervise-gate.ts";

const HOSTS = ["listed.example.test", "once.example.test"];
let upstream: Upstream;
let proxy: TestProxy;
let supervise: SuperviseGate;

beforeAll(async () => {
  upstream = await new Upstream().listen(HOSTS, { alpn: false });
  proxy = await new TestProxy().listen();
  supervise = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
  proxy.gate.once = supervise.grants;
  const matches = [{ paths: [{ type: "exact" as const, value: "/open" }] }];
  proxy.obey({ routes: [{ ...upstream.route("listed.example.test"), matches }] });
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const approve = (host: string, path: string) => {
  const proposed = { routes: [{ host, matches: [{ methods: ["GET"], paths: [{ type: "exact", value: path }] }] }] };
  const id = supervise.asks.raise({ kind: "egress-block", justification: "", proposed });
  supervise.hear([
    {
      ask_id: id,
      proposal_id: id,
      status: "approved",
      reason: null,
      proposed: null,
      scope: "once",
      valid_until: Date.now() / 1000 + 60,
    },
  ]);
};

it("G-99: lets one request out that a route approved once covers, with what the host's own route has, and no other", async () => {
  approve("listed.example.test", "/once");
  expect((await proxy.ask("https://listed.example.test/other")).status).toBe(403);
  expect((await proxy.ask("https://listed.example.test/once", { method: "POST", body: "x" })).status).toBe(403);
  expect((await proxy.ask("https://listed.example.test/once")).status).toBe(200);
  expect((await proxy.ask("https://listed.example.test/once")).status).toBe(403);
  expect((await proxy.ask("https://listed.example.test/open")).status).toBe(200);
});

it("G-99: a host that nobody lists is there for that one request, and only where it leads outside", async () => {
  await expect(proxy.ask("https://once.example.test/x")).rejects.toThrow(/403/);
  approve("once.example.test", "/x");
  const refused = await proxy.ask("https://once.example.test/y");
  expect(refused.text).toContain("EGRESS_DENIED");
  // It goes where the name leads, which is nowhere here: it was let out, and it is used up.
  expect((await proxy.ask("https://once.example.test/x")).text).not.toContain("is not allowed at");
  await expect(proxy.ask("https://once.example.test/x")).rejects.toThrow(/403/);
});
