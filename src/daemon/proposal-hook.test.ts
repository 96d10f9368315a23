import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../../test/helpers/installation.ts";
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { EventLog } from "../events/event-log.ts";
import { openStore } from "../store/open-store.ts";
import { ProposalHook } from "./proposal-hook.ts";

const HOSTILE = `$(touch pwned) \`touch pwned\` '; touch pwned; ' --icon=/etc/passwd \u001B[2J\u202E <a href="http://x">x</a>`;

let folder = "";
let lines: string[] = [];
let closeAll: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-hook-"));
  lines = [];
  closeAll = [];
});
afterEach(async () => {
  for (const close of closeAll.reverse()) await close();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

function start(onProposal: () => string | undefined) {
  const log = createLog((line) => lines.push(line));
  const store = openStore(join(folder, "store.sqlite"));
  if (store === "locked") throw new Error("nobody else has this store");
  const events = new EventLog({ store, clock: systemClock, log });
  const hook = new ProposalHook({ events, log, config: () => ({ on_proposal: onProposal() }) });
  closeAll.push(async () => {
    await hook.close();
    events.close();
    store.close();
  });
  const ask = (proposal_id: string, adds = "It adds a route.") =>
    events.record({
      kind: "proposal.created",
      workspace_id: "ws-0000000001",
      identity: "reviewer-1",
      proposal_id,
      proposal_kind: "egress-block",
      justification: HOSTILE,
      adds,
      proposed: { routes: [] },
      command: null,
      current_hash: "h",
      expires_at: 2,
    });
  const near = () =>
    events.record({
      kind: "budget.near",
      workspace_id: "ws-0000000001",
      identity: "reviewer-1",
      resource: "wall_seconds",
      used: 80,
      limit: 100,
    });
  return { ask, near, hook };
}

it("hands the event to a command as JSON on its input, and nothing of it is run [G-130]", async () => {
  const file = join(folder, "told");
  const { ask } = start(() => `cd ${folder} && cat > told.part && mv told.part told`);
  ask("p-0000000001", HOSTILE);
  await eventually(() => expect(existsSync(file)).toBe(true));
  const told = readFileSync(file, "utf8");
  expect(JSON.parse(told)).toMatchObject({ kind: "proposal.created", proposal_id: "p-0000000001", adds: HOSTILE });
  // eslint-disable-next-line no-control-regex -- what must not be there
  expect(told.trimEnd()).not.toMatch(/[\u0000-\u001F\u202E]/);
  expect(existsSync(join(folder, "pwned"))).toBe(false);
});

it("tells that a run has nearly used up what it may, before it asks for more", async () => {
  const file = join(folder, "told");
  start(() => `cd ${folder} && cat > told.part && mv told.part told`).near();
  await eventually(() => expect(existsSync(file)).toBe(true));
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ kind: "budget.near", used: 80, limit: 100 });
});

it("posts the event to a webhook, follows it nowhere else, and says when it does not take it, without its address", async () => {
  const asked: IncomingMessage[] = [];
  const bodies: string[] = [];
  let answer = 204;
  const server = createServer((request, response) => {
    asked.push(request);
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(answer, { location: "/elsewhere" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closeAll.push(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  const { ask } = start(() => `http://127.0.0.1:${port}/hooks/s3cret`);
  ask("p-0000000001");
  await eventually(() => expect(bodies).toHaveLength(1));
  expect(asked[0]).toMatchObject({ method: "POST", url: "/hooks/s3cret" });
  expect(asked[0]?.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ proposal_id: "p-0000000001", identity: "reviewer-1" });
  expect(lines).toEqual([]);
  answer = 302;
  ask("p-0000000002");
  await eventually(() => expect(lines.join("")).toContain("the webhook answered with 302"));
  expect(asked).toHaveLength(2);
  expect(lines.join("")).not.toContain("s3cret");
});

it("shows a notification, whose words are neither options nor markup [G-130]", async () => {
  const program = join(folder, "notify-send");
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/part && mv ${folder}/part ${folder}/told\n`, {
    mode: 0o755,
  });
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  const { ask } = start(() => "notify");
  ask("p-0000000001", HOSTILE);
  await eventually(() => expect(existsSync(join(folder, "told"))).toBe(true));
  const [app, end, title, body, ...rest] = readFileSync(join(folder, "told"), "utf8").split("\n");
  expect([app, end, title]).toEqual(["--app-name=cloche", "--", "reviewer-1 asks: egress-block"]);
  expect(body).toContain(String.raw`--icon=/etc/passwd \x1b[2J\u202e &lt;a href="http://x"&gt;x&lt;/a&gt;`);
  expect(rest).toEqual(["Answer with: cloche supervise", ""]);
});

it.each([
  ["a command that is not there", "/no/such/program", "it ended with 127"],
  ["a command that fails", "exit 3", "it ended with 3"],
  ["a webhook that nobody serves", "http://127.0.0.1:9/x", "the webhook does not answer"],
])("goes on after %s, and tells it in the log", async (_, way, words) => {
  let now = way;
  const { ask } = start(() => now);
  ask("p-0000000001");
  await eventually(() => expect(lines.join("")).toContain(words));
  expect(lines.join("")).toContain("p-0000000001");
  now = `: > ${folder}/done`;
  ask("p-0000000002");
  await eventually(() => expect(existsSync(join(folder, "done"))).toBe(true));
});

it("says so where there is no notify-send", async () => {
  vi.stubEnv("PATH", folder);
  start(() => "notify").ask("p-0000000001");
  await eventually(() => expect(lines.join("")).toContain("there is no notify-send here"));
});

it("runs a few at a time, keeps some waiting, and leaves out the rest of a flood [G-130]", async () => {
  const { ask, hook } = start(() => `echo x >> ${folder}/begun; sleep 60`);
  for (let number = 0; number < 200; number++) ask(`p-${String(number).padStart(10, "0")}`);
  await eventually(() =>
    expect(lines.filter((line) => line.includes("on_proposal is behind"))).toHaveLength(200 - 4 - 64),
  );
  await eventually(() => expect(readFileSync(join(folder, "begun"), "utf8")).toBe("x\n".repeat(4)));
  await hook.close(); // and none of them outlives the daemon
});

it("does nothing where nothing is set, and does not start what comes after a bad configuration", async () => {
  let isBad = true;
  const { ask } = start(() => {
    if (isBad) throw new Error("unknown key");
    return undefined;
  });
  ask("p-0000000001");
  await eventually(() => expect(lines.join("")).toContain("unknown key"));
  isBad = false;
  lines = [];
  ask("p-0000000002");
  await new Promise((done) => setTimeout(done, 50));
  expect(lines).toEqual([]);
});
