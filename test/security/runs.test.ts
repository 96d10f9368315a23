import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { Installation, eventually, processesNaming, withInstallation } from "../helpers/installation.ts";

const docker = useDockerEngine();

describe("a run", () => {
  let at: Installation;
  let agents: BottledAgents;
  const random = () => randomBytes(20).toString("hex");

  beforeAll(() => {
    at = new Installation("s");
    agents = new BottledAgents(at);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });

  /** Files of the installation that hold a text, as it is or in base64. */
  const filesWith = (text: string) => {
    const forms = [text, Buffer.from(text).toString("base64").slice(0, 36)];
    try {
      return execFileSync("grep", ["-rlFs", ...forms.flatMap((form) => ["-e", form]), at.root])
        .toString()
        .split("\n");
    } catch {
      return []; // grep says by its exit code that there is none
    }
  };

  it("G-65 G-66 has values in its agent, credentials in its gate, and neither anywhere else", async () => {
    const [secret, token, answer] = [`sec-${random()}`, `tok-${random()}`, `ans-${random()}`];
    const dump =
      "{ env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; find /home /workspace /tmp /run /etc -type f -size -512k -exec cat {} +; } 2>/dev/null | gzip -c";
    agents.agent(
      "quiet",
      `printf %s "$SECRET$ASKED" | sha256sum; ${dump} | base64 -w0; until test -e go; do sleep 0.1; done; exit 3`,
      {
        bottle: {
          env: { SECRET: "${MY_SECRET}", ASKED: "?What", SHORT: "${MY_SHORT}" },
          egress: { routes: [{ host: "api.example.test", auth: { scheme: "Bearer", token_ref: "API_TOKEN" } }] },
        },
      },
    );
    const given = {
      variables: { MY_SECRET: secret, API_TOKEN: token, MY_SHORT: "1" },
      answers: { ASKED: answer },
    };
    const { identity, workspace_id } = await at.sdk.startRun("quiet", agents.options(given));
    const following = agents.follow(at.sdk.attachRun(identity));
    await eventually(async () => expect((await at.sdk.logsWorkspace(identity)).entries[0]?.stdout).toMatch(/-\n./));
    const everywhere = (text: string) => [processesNaming(text), filesWith(text)];
    for (const text of [secret, token, answer]) expect(everywhere(text)).toEqual([[], []]);
    await at.sdk.writeWorkspaceFile(identity, "go", { text: "" });
    const { stdout, end } = await following;
    expect(end).toMatchObject({ exit_code: 3, kept: true });
    const hashed = execFileSync("sha256sum", { input: `${secret}${answer}` }).toString();
    const [digest = "", packed = ""] = stdout.split("\n");
    expect(`${digest}\n`).toBe(hashed);
    const seen = gunzipSync(Buffer.from(packed, "base64")).toString("latin1");
    expect(seen).toContain("SHORT=1");
    expect(seen).toMatch(/API_TOKEN=\S{20,}/);
    for (const form of [token, Buffer.from(token).toString("base64").slice(0, 50), Buffer.from(token).toString("hex")])
      expect(seen.includes(form), "the credential is in the sandbox").toBe(false);
    for (const text of [secret, token, answer]) expect(everywhere(text)).toEqual([[], []]);
    const events: ClocheEvent[] = [];
    for await (const event of at.sdk.watch({ workspace_id, since: 0, follow: false })) events.push(event);
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`${secret}|${token}|${answer}`));
    // What is missing is told by its name, and nothing of what is there.
    const missing = at.sdk.startRun("quiet", agents.options({ ...given, variables: { MY_SECRET: secret } }));
    await expect(missing).rejects.toMatchObject({
      code: "VARIABLE_MISSING",
      message: expect.not.stringContaining(secret) as unknown,
    });
    await at.sdk.cleanUp({ all: true });
  });

  it("G-65 G-66 has neither values nor credentials in what an engine tells of it", async () => {
    const { engine } = docker;
    await withInstallation(async (there) => {
      const bottled = new BottledAgents(there);
      const [secret, token, answer] = [`sec-${random()}`, `tok-${random()}`, `ans-${random()}`];
      bottled.agent("quiet", 'printf %s "$SECRET$ASKED" | sha256sum; until test -e go; do sleep 0.1; done; exit 3', {
        bottle: {
          env: { SECRET: "${MY_SECRET}", ASKED: "?What", LITERAL: "a literal" },
          egress: { routes: [{ host: "api.example.test", auth: { scheme: "Bearer", token_ref: "API_TOKEN" } }] },
        },
      });
      const { identity } = await there.sdk.startRun(
        "quiet",
        bottled.options({
          backend: "docker",
          variables: { MY_SECRET: secret, API_TOKEN: token },
          answers: { ASKED: answer },
        }),
      );
      const following = bottled.follow(there.sdk.attachRun(identity));
      const hashed = execFileSync("sha256sum", { input: `${secret}${answer}` }).toString();
      await eventually(async () => expect((await there.sdk.logsWorkspace(identity)).entries[0]?.stdout).toBe(hashed));
      const ids = (await engine.docker("ps", "-aq")).split("\n").filter(Boolean);
      expect(ids.length).toBeGreaterThan(0);
      const told = [
        await engine.docker("inspect", ...ids),
        ...(await Promise.all(ids.map((id) => engine.docker("logs", id)))),
      ];
      const inspected = told.join("\n");
      expect(inspected).toContain("cloche");
      for (const text of [secret, token, answer])
        for (const form of [text, Buffer.from(text).toString("base64").slice(0, 36)]) {
          expect(inspected.includes(form), "the engine tells a secret").toBe(false);
          expect(processesNaming(form)).toEqual([]);
        }
      await there.sdk.writeWorkspaceFile(identity, "go", { text: "" });
      expect((await following).end).toMatchObject({ exit_code: 3 });
      await there.sdk.cleanUp({ all: true });
    }, engine.env);
  }, 120_000);

  it("G-68 leaves nothing of a launch that fails, is cancelled, or loses its daemon", async () => {
    agents.agent("slow", "exec sleep 1000", { keys: { skills: ["large"] } });
    const folder = agents.skill("large");
    for (let file = 0; file < 8000; file++) writeFileSync(join(folder, `f${file}`), "x");
    const nothing = async () => {
      expect([agents.states(), (await at.sdk.listWorkspaces()).count]).toEqual([[], 0]);
      expect(processesNaming(at.path("h/workspaces"))).toEqual([]);
    };
    const cancelled = new AbortController();
    const first = at.sdk.startRun("slow", agents.options({ signal: cancelled.signal }));
    first.catch(() => undefined);
    await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(1));
    cancelled.abort();
    await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
    await eventually(nothing);
    const second = at.sdk.startRun("slow", agents.options());
    second.catch(() => undefined);
    await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(1));
    process.kill((await at.sdk.daemonStatus()).pid ?? 0, "SIGKILL");
    await expect(second).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
    await eventually(nothing);
  });
});
