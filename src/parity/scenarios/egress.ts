import assert from "node:assert/strict";
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
});
