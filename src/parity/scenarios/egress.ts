import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EgressInput } from "../../model/egress.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

const LISTED = "listed.example.test";
const UNLISTED = "unlisted.example.test";
const REQUEST = `GET http://${UNLISTED}/page HTTP/1.1\\r\\nHost: ${UNLISTED}\\r\\nConnection: close\\r\\n\\r\\n`;
/** Without a tool that an environment may lack. */
const ASK = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099; printf "${REQUEST}" >&3; cat <&3'`;

async function isDenied(at: ParityContext, id: string): Promise<void> {
  const answer = await at.out(id, ASK);
  assert.match(answer, /^HTTP\/1\.1 403 /);
  const { error } = JSON.parse(answer.slice(answer.indexOf("{"))) as { error: Record<string, unknown> };
  assert.deepEqual([error["code"], error["host"], error["path"]], ["EGRESS_DENIED", UNLISTED, "/page"]);
}

/** As a tool does that knows no proxy. The gate's answer tells that the connection was taken for one to that host. */
const ASK_BY_NAME = `bash -c 'exec 3<>/dev/tcp/${LISTED}/80; printf "${REQUEST}" >&3; cat <&3'`;

async function hasNames(at: ParityContext, id: string): Promise<void> {
  assert.match(await at.out(id, `getent hosts ${LISTED}`), /^127\.\d+\.\d+\.\d+ +listed/);
  assert.equal(await at.out(id, `getent hosts ${UNLISTED} a.${LISTED} cloche.invalid || echo none`), "none\n");
  const answer = await at.out(id, ASK_BY_NAME);
  assert.match(answer, /"code":"EGRESS_DENIED".*its Host is another one.*"host":"listed\.example\.test"/);
}

const TOKEN = "parity-token-4b1d09e7c2";
const TOLD = "PARITY_TOKEN";

/** One host, at a server of this one's own, below one path, with a token. */
const policyFor = (port: number, path: string): EgressInput => ({
  log: "all",
  routes: [
    {
      host: LISTED,
      connect: `127.0.0.1:${port}`,
      auth: { scheme: "Bearer", token_ref: TOLD },
      matches: [{ paths: [{ type: "prefix", value: path }] }],
    },
  ],
});

/** What somebody in the sandbox gets from the listed host: the status, and the text. */
async function get(at: ParityContext, id: string, path: string): Promise<string> {
  const lines = [`GET http://${LISTED}${path} HTTP/1.1`, `Host: ${LISTED}`, "Authorization: Bearer $PARITY_TOKEN"];
  const request = [...lines, "Connection: close", "", ""].join("\\r\\n");
  const answer = await at.out(id, `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099; printf "${request}" >&3; cat <&3'`);
  return `${answer.slice(9, 12)} ${answer.slice(answer.indexOf("\r\n\r\n") + 4).trim()}`;
}

/** Only the first path of a policy passes, with its token in the place of what the sandbox sent. */
async function letsOut(at: ParityContext, id: string, passes: string, denied: string): Promise<void> {
  assert.equal(await get(at, id, `${passes}/x`), `200 ${passes}/x with Bearer ${"*".repeat(TOKEN.length)}`);
  assert.match(await get(at, id, `${denied}/x`), /^403 \{"error":\{"code":"EGRESS_DENIED"/);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

const create = (at: ParityContext): Promise<string> => at.create({ network_policy: "egress", allow_hosts: [LISTED] });

export const EGRESS_SCENARIOS = scenarios("egress", {
  "a request meets the workspace's gate, in each of its sandboxes": {
    needs: { capability: "egress", ask: create },
    run: async (at) => {
      const id = await create(at);
      await isDenied(at, id);
      await hasNames(at, id);
      assert.match(
        await at.out(id, "echo $HTTPS_PROXY $https_proxy; cat $SSL_CERT_FILE | tail -1"),
        /^(http:\/\/127\.0\.0\.1:9099 ?){2}\n-----END CERTIFICATE-----\n$/,
      );
      await at.client.resetWorkspace(id);
      await isDenied(at, id);
      await hasNames(at, id);
      const { workspace_id: fork } = await at.client.forkWorkspace(id);
      await isDenied(at, fork);
      await hasNames(at, fork);
      await at.client.deleteWorkspace(fork);
    },
  },
  "a policy lets out what it lists, with its token, and another one takes its place, in each of its sandboxes": {
    needs: { capability: "egress", ask: create },
    run: async (at) => {
      const seen: (string | undefined)[] = [];
      const server = createServer(({ url, headers }, response) => {
        seen.push(headers.authorization);
        response.end(`${url ?? ""} with ${headers.authorization ?? ""}`);
      });
      const port = await listen(server);
      try {
        const egress_tokens = { [TOLD]: TOKEN };
        const id = await at.create({ egress: policyFor(port, "/v1"), egress_tokens });
        const standIn = await at.out(id, `printf %s "$${TOLD}"`);
        assert.ok(standIn.length > 8 && !standIn.includes(TOKEN), `a stand-in is no token: ${standIn}`);
        await letsOut(at, id, "/v1", "/v2");
        const { revision } = await at.client.setEgress(id, policyFor(port, "/v2"), { egress_tokens });
        assert.ok((revision ?? 0) > 0, "the policy is in force when the call ends");
        await letsOut(at, id, "/v2", "/v1");
        await at.client.stopWorkspace(id);
        await at.client.startWorkspace(id);
        await letsOut(at, id, "/v2", "/v1");
        assert.equal(await at.out(id, `printf %s "$${TOLD}"`), standIn);
        await at.client.resetWorkspace(id);
        const { workspace_id: fork } = await at.client.forkWorkspace(id);
        at.keep(fork);
        await letsOut(at, fork, "/v2", "/v1");
        assert.deepEqual([...new Set(seen)], [`Bearer ${TOKEN}`]);
      } finally {
        server.close();
      }
    },
  },
});
