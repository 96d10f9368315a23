import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { childrenOf } from "../../src/base/process-identity.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import { type Endpoint, endpointOf, HttpSession } from "../helpers/mcp-http.ts";

/** Another program without the token: holds as many connections as it can and replaces those that end, until it is ended. */
const FLOOD = `
const { connect } = require("node:net");
const [port, most, said] = process.argv.slice(1);
let open = 0, made = 0;
const one = () => {
  const socket = connect(Number(port), "127.0.0.1", () => { made++; if (said) socket.write(said); });
  open++;
  socket.on("error", () => undefined).once("close", () => { open--; });
};
setInterval(() => { for (let n = 0; n < 60 && open < Number(most); n++) one(); }, 15);
setInterval(() => process.stdout.write(made + " " + open + "\\n"), 100);
setTimeout(() => process.exit(0), 60000);
`;

const floods: ChildProcess[] = [];
afterEach(() => {
  for (const flood of floods.splice(0)) flood.kill("SIGKILL");
});

/** Resolves when it has made so many connections, or holds all that it wants. */
async function flood(port: string, most: number, said: string, made: number): Promise<void> {
  const child = spawn("nice", [process.execPath, "-e", FLOOD, port, String(most), said], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  floods.push(child);
  for (;;) {
    const [data] = (await once(child.stdout, "data")) as [Buffer];
    const [count = 0, open = 0] = (data.toString().trim().split("\n").at(-1) ?? "").split(" ").map(Number);
    // Nobody ends them: it holds what it wants.
    if (count >= made || open >= most) return;
  }
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const memoryMb = (pid: number, what: string) =>
  Number(new RegExp(`^${what}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;

describe("G-24 another local user, without the token", () => {
  it.each([
    ["connections that say nothing", ""],
    ["requests that never end", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "],
    ["requests without a token", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n{"],
  ])("G-24 G-25 does not end the daemon, fill it or shut its clients out by %s", async (_what, said) => {
    const at = new Installation("mf");
    try {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const endpoint: Endpoint = await endpointOf(at);
      const { pid } = await at.sdk.daemonStatus();
      if (pid === null) throw new Error("no daemon");
      await flood(new URL(endpoint.url).port, 3000, said, 15_000);
      const began = performance.now();
      // A client whose connection finds the queue full is refused at once, and asks again. On a busy machine it does so for longer.
      let answered: unknown;
      await eventually(async () => {
        answered = await (await HttpSession.open(endpoint)).call("workspace_list");
      }, 60);
      expect(answered).toMatchObject({ count: 0 }); // it sees its own alone, and has none
      console.log(`with the flood, a session took ${Math.round(performance.now() - began)} ms`);
      const exec = await at.sdk.execWorkspace(id, { command: "echo fine" });
      expect(exec.stdout).toBe("fine\n");
      for (const one of [pid, ...childrenOf(pid).map((child) => child.pid)]) {
        expect(descriptors(one), "descriptors").toBeLessThan(700);
        expect(memoryMb(one, "VmHWM"), "memory").toBeLessThan(400);
      }
      expect((await at.sdk.daemonStatus()).pid).toBe(pid);
    } finally {
      for (const one of floods.splice(0)) one.kill("SIGKILL");
      await at[Symbol.asyncDispose]();
    }
  });

  it("G-25 a daemon with few descriptors serves its socket and goes on, though every one of them is asked for", async () => {
    // As `ulimit -n` gives them to it.
    const at = new Installation("mf", {});
    try {
      const start = spawn(
        "sh",
        ["-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath, "dist/cli/main.js", "doctor"],
        {
          env: at.env,
          stdio: "ignore",
        },
      );
      await once(start, "exit");
      const { pid } = await at.sdk.daemonStatus();
      if (pid === null) throw new Error("no daemon");
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const { url } = await endpointOf(at);
      await flood(new URL(url).port, 1500, "", 3000);
      for (let count = 0; count < 5; count++)
        expect((await at.sdk.execWorkspace(id, { command: "echo fine" })).stdout).toBe("fine\n");
      for (const one of floods.splice(0)) one.kill("SIGKILL");
      expect((await at.sdk.daemonStatus()).pid).toBe(pid);
      await eventually(async () => {
        await (await HttpSession.open(await endpointOf(at))).call("workspace_list");
      });
    } finally {
      for (const one of floods.splice(0)) one.kill("SIGKILL");
      await at[Symbol.asyncDispose]();
    }
  });
});
