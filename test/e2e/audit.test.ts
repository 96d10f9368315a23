import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditShown } from "../../src/model/audit.ts";
import type { Evidence } from "../../src/model/evidence.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { Installation, eventually } from "../helpers/installation.ts";
import { asLocalUser } from "../helpers/local-user.ts";

const LISTED = "docs.example.test";
const UNLISTED = "other.example.test";
const TOKEN = "tok-3f9c2b7a51e84d06";

describe("the audit of an installation", () => {
  let at: Installation;
  let agents: BottledAgents;
  let identity: string;
  const server = createServer();
  const log = () => join(at.home, "audit.jsonl");
  const cli = async (...words: string[]) => await cliInProcess(at, words);
  const shown = async (...words: string[]) =>
    JSON.parse((await cli("audit", "show", ...words, "--json")).stdout) as AuditShown;

  const ask = (host: string) =>
    `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099; printf "GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n" >&3; cat <&3'`;

  const listening = async () => {
    server.on("request", (request, response) => response.end(request.headers.authorization ?? "nothing"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  beforeAll(async () => {
    at = new Installation("au");
    agents = new BottledAgents(at);
    const egress = {
      log: "blocks",
      routes: [{ host: LISTED, connect: await listening(), ports: [80], auth: { scheme: "Bearer", token_ref: "API" } }],
    };
    const script = `${ask(LISTED)}; ${ask(LISTED)}; ${ask(LISTED)}; ${ask(UNLISTED)}; echo changed > made.txt; exit 4`;
    agents.agent("audited", script, { bottle: { egress } });
    mkdirSync(at.path("project"));
    writeFileSync(at.path("project/kept.txt"), "kept\n");
    const ran = await agents.run("audited", {
      project_path: at.path("project"),
      copy_cwd: true,
      variables: { API: TOKEN },
    });
    identity = ran.identity;
    await eventually(async () => {
      const kinds = (await shown(identity)).entries.map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(["credential.used", "request.denied", "run.ended"]));
    });
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  it("G-113 tells of a run: who began it, under which policy, which credential was used, what was denied, how it ended", async () => {
    const { path, count, entries, problem } = await shown(identity);
    expect([path, count, problem]).toEqual([log(), entries.length, null]);
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    const started = { agent_name: "audited", bottle_names: ["audited"], policy_hash: hash, resumed: false };
    const of = (kind: string) => entries.filter((entry) => entry.kind === kind);
    expect(of("run.started")).toMatchObject([{ operator: "root", details: started }]);
    // Whoever asks for the audit has written what was gathered so far: the rest comes as one more entry.
    const used = { operator: null, details: { credentials: ["API"], host: LISTED } };
    expect(of("credential.used")).toMatchObject(of("credential.used").map(() => used));
    expect(of("request.denied")).toMatchObject([{ details: { host: UNLISTED, code: "EGRESS_DENIED" } }]);
    expect(entries.at(-1)).toMatchObject({
      kind: "run.ended",
      details: { exit_code: 4, kept: true, has_changes: true },
    });
    expect(readFileSync(log(), "utf8")).not.toContain(TOKEN);
    const human = await cli("audit", "show", identity, "--kind", "request.denied");
    expect(human.stdout).toContain(UNLISTED);
    expect((await shown("--limit", "1")).entries).toHaveLength(1);
  });

  it("tells of a changed policy with what it was before, and by whom", async () => {
    const { workspace_id } = agents.metadata(identity);
    await at.sdk.setEgress(workspace_id, { routes: [{ host: "new.example.test" }] });
    const { entries } = await shown("--kind", "policy.changed");
    expect(entries).toMatchObject([
      {
        operator: "root",
        workspace_id,
        details: { before: { log: "blocks" }, after: { routes: [{ host: "new.example.test" }] } },
      },
    ]);
    const [started] = (await shown(identity, "--kind", "run.started")).entries;
    expect(entries[0]?.details["before_hash"]).toBe(started?.details["policy_hash"]);
  });

  it("verifies, here and elsewhere", async () => {
    expect(await cli("audit", "verify")).toMatchObject({ code: 0 });
    const file = at.path("audit-export.jsonl");
    expect(await cli("audit", "export", "--output", file)).toMatchObject({ code: 0 });
    expect(await cli("audit", "export", "--output", file)).toMatchObject({ code: 1 });
    const key = at.path("theirs.pub");
    writeFileSync(key, readFileSync(join(at.home, "keys/installation.pub")));
    expect(await cli("audit", "verify", file, "--key", key)).toMatchObject({ code: 0 });
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at.path("foreign")]);
    const foreign = await cli("audit", "verify", file, "--key", at.path("foreign.pub"), "--json");
    expect(foreign.code).toBe(1);
    expect(JSON.parse(foreign.stdout)).toMatchObject({ valid: false, first_bad: { sequence: 1 } });
  });

  it("G-111 loses no entry when the daemon is killed, and adds none twice", async () => {
    const before = (await shown()).count;
    const { workspace_id } = agents.metadata(identity);
    for (let round = 1; round <= 3; round++) {
      await at.sdk.setEgress(workspace_id, { routes: [{ host: `r${round}.example.test` }] });
      const { pid } = await at.sdk.daemonStatus();
      if (pid === null) throw new Error("there is no daemon to kill");
      process.kill(pid, "SIGKILL");
      await eventually(async () => expect((await at.sdk.daemonStatus()).running).toBe(false));
    }
    appendFileSync(log(), '{"details":{"half');
    expect((await shown()).count).toBe(before + 3);
    expect(await cli("audit", "verify")).toMatchObject({ code: 0 });
  });

  it("G-93 names the first entry that was changed, and writes nothing behind it", async () => {
    await at.sdk.stopDaemon();
    const whole = readFileSync(log(), "utf8");
    const lines = whole.split("\n");
    try {
      for (const [text, first] of [
        [whole.replace(UNLISTED, UNLISTED.replace("o", "0")), lines.findIndex((line) => line.includes(UNLISTED)) + 1],
        [[...lines.slice(0, 1), ...lines.slice(2)].join("\n"), 2],
        [`${lines.slice(0, 3).join("\n")}\n`, 4],
      ] as const) {
        writeFileSync(log(), text);
        const verified = await cli("audit", "verify", "--json");
        expect(verified.code).toBe(1);
        expect(JSON.parse(verified.stdout)).toMatchObject({ valid: false, first_bad: { sequence: first } });
        await at.sdk.stopDaemon();
        expect(readFileSync(log(), "utf8")).toBe(text);
      }
    } finally {
      await at.sdk.stopDaemon();
      writeFileSync(log(), whole);
    }
    expect(await cli("audit", "verify")).toMatchObject({ code: 0 });
  });

  describe("evidence", () => {
    const file = () => at.path("evidence.json");
    const predicate = () => {
      const { dsseEnvelope } = JSON.parse(readFileSync(file(), "utf8")) as { dsseEnvelope: { payload: string } };
      const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, "base64").toString()) as { predicate: Evidence };
      return statement.predicate;
    };

    it("holds what a run did and was allowed, in a file that cloche and ssh-keygen verify", async () => {
      const made = await cli("evidence", identity, "--output", file(), "--json");
      expect(made).toMatchObject({ code: 0 });
      const { run, diff, egress, credential_uses: uses, commands, policy, audit, missing } = predicate();
      expect(run).toMatchObject({
        identity,
        agent_name: "audited",
        operator: "root",
        exit_code: 4,
        environment: "host",
      });
      expect(diff).toMatchObject({ available: true, changed: true });
      expect(diff.available && diff.patch).toContain("+changed");
      expect(egress.denied.listed).toMatchObject([{ host: UNLISTED, code: "EGRESS_DENIED" }]);
      expect(uses.listed).toMatchObject([{ credentials: ["API"], host: LISTED, requests: 3 }]);
      expect(commands.listed).toMatchObject([{ state: "done", exit_code: 4 }]);
      expect(policy.changes.length).toBeGreaterThan(0);
      expect(audit.entries.count).toBeGreaterThan(2);
      expect(missing).toEqual([]);
      expect(readFileSync(file(), "utf8")).not.toContain(TOKEN);
      expect(await cli("evidence", "verify", file())).toMatchObject({ code: 0 });
      writeFileSync(at.path("signers"), `cloche ${readFileSync(join(at.home, "keys/installation.pub"), "utf8")}`);
      const words = [
        "-Y",
        "verify",
        "-f",
        at.path("signers"),
        "-I",
        "cloche",
        "-n",
        "cloche-evidence",
        "-s",
        `${file()}.sig`,
      ];
      expect(spawnSync("ssh-keygen", words, { input: readFileSync(file()) }).status).toBe(0);
      expect((await cli("evidence", identity, "--output", file())).stderr).toContain("it exists");
    });

    it("G-94 needs no daemon to be verified, and fails with one byte changed, cut off, or by another key", async () => {
      await at.sdk.stopDaemon();
      expect(await cli("evidence", "verify", file())).toMatchObject({ code: 0 });
      const whole = readFileSync(file());
      for (const bytes of [
        ...[0.25, 0.5, 0.75].map((part) => {
          const changed = Buffer.from(whole);
          const place = Math.floor(whole.length * part);
          changed[place] = (changed[place] ?? 0) ^ 1;
          return changed;
        }),
        whole.subarray(0, -20),
      ]) {
        const other = at.path("changed.json");
        writeFileSync(other, bytes);
        const refused = await cli("evidence", "verify", other);
        expect(refused).toMatchObject({ code: 1 });
        expect(refused.stderr).toContain("is no valid evidence");
      }
      const foreign = await cli("evidence", "verify", file(), "--key", at.path("foreign.pub"));
      expect(foreign.stderr).toContain("another key has signed it");
      const secret = await cli("evidence", "verify", file(), "--key", join(at.home, "keys/installation.pem"));
      expect(secret.stderr).toContain("is no public Ed25519 key");
      writeFileSync(`${file()}.sig`, readFileSync(`${file()}.sig`, "utf8").replace("U1NIU0lH", "V1NIU0lH"));
      expect(await cli("evidence", "verify", file())).toMatchObject({ code: 1 });
      expect((await at.sdk.daemonStatus()).running).toBe(false);
    });

    it("of a run that is gone says what is missing, and of one that never was that there is none", async () => {
      agents.agent("gone", "exit 0");
      const ran = await agents.run("gone");
      const made = await cli("evidence", ran.identity, "--output", at.path("gone.json"), "--json");
      expect(JSON.parse(made.stdout)).toMatchObject({ missing: [expect.stringContaining("its workspace is gone")] });
      const never = await cli("evidence", "never-aaaaa", "--output", at.path("never.json"));
      expect(never.stderr).toContain("There is no run");
      expect(existsSync(at.path("never.json"))).toBe(false);
      const nowhere = await cli("evidence", ran.identity, "--output", at.path("no/such/folder.json"));
      expect(nowhere.stderr).toContain("Cannot write");
    });
  });

  it("G-115 holds what a run sends when its time is used up, until the operator gives more, and tells of both", async () => {
    const { port } = server.address() as AddressInfo;
    const egress = { log: "all", routes: [{ host: LISTED, connect: `127.0.0.1:${port}`, ports: [80] }] };
    agents.agent("spends", `sleep 1.2; ${ask(LISTED)}; exit 3`, { bottle: { egress, limits: { wall_seconds: 1 } } });
    const run = await at.sdk.startRun("spends", agents.options());
    const ended = agents.follow(at.sdk.attachRun(run.identity));
    let id = "";
    await eventually(async () => {
      const [asked] = (await at.sdk.listApprovals()).proposals.filter(({ kind }) => kind === "budget");
      expect(asked).toMatchObject({
        identity: run.identity,
        proposed: { resource: "wall_seconds", limit: 1, more: 1 },
      });
      id = asked?.proposal_id ?? "";
    });
    const proposed = { resource: "wall_seconds", limit: 1, more: 600 };
    expect(await at.sdk.approveProposal(id, { proposed })).toMatchObject({ status: "modified" });
    expect((await ended).stdout).toContain("200 OK");
    const kinds = (await shown(run.identity)).entries.map(({ kind, operator }) => `${kind} ${operator ?? "-"}`);
    expect(kinds).toEqual(expect.arrayContaining(["proposal.created -", "proposal.decided root"]));
    const told = [];
    for await (const event of at.sdk.watch({ identity: run.identity, since: 0, follow: false })) told.push(event.kind);
    expect(told).toContain("budget.near");
  });

  it("G-93 is signed by a key that nobody else can read, or by none", async () => {
    const key = join(at.home, "keys/installation.pem");
    expect(statSync(key).mode & 0o077).toBe(0);
    for (const path of [key, log(), join(at.home, "keys/audit-checkpoint.json")])
      expect((await asLocalUser("cat", path)).stderr).toContain("Permission denied");
    await at.sdk.stopDaemon();
    chmodSync(key, 0o644);
    try {
      const before = statSync(log()).size;
      expect((await cli("audit", "verify")).stderr).toContain("Other users can read the key");
      await at.sdk.stopDaemon();
      expect(statSync(log()).size).toBe(before);
    } finally {
      chmodSync(key, 0o600);
    }
    rmSync(at.path("foreign"), { force: true });
    expect(await cli("audit", "verify")).toMatchObject({ code: 0 });
  });
});
