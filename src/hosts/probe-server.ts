import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { messageOf } from "../base/errors.ts";
import type { ServerProbe } from "../model/host.ts";
import { canonicalEntry, type Launcher } from "./server-entry.ts";

const DEADLINE_MS = 10_000;

/** A host's first words to a server. */
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "cloche-doctor", version: "0" } },
};

/** Starts what the hosts start and asks what they ask first: an entry that is right is of no use when nobody answers. */
export async function probeServer(launcher: Launcher): Promise<ServerProbe> {
  const { command, args } = canonicalEntry(launcher, ["--no-project-source"]);
  const started = performance.now();
  const child = spawn(command, args, { env: launcher.env, stdio: ["pipe", "pipe", "pipe"], cwd: "/" });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const timer = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
  let complaint = "";
  child.on("error", (error) => (complaint = messageOf(error)));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  child.stdin.on("error", () => undefined); // it ended before it read; what it said is told below
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!isAnswer(line)) return { answers: false, detail: `It printed "${line.slice(0, 80)}", which is no answer` };
      return { answers: true, detail: `answers in ${Math.round(performance.now() - started)} ms` };
    }
    await ended;
    return { answers: false, detail: complaint.trim().split("\n")[0] || "It ended without an answer" };
  } finally {
    child.stdin.end();
    await ended;
    clearTimeout(timer);
  }
}

function isAnswer(line: string): boolean {
  try {
    const { id, result } = JSON.parse(line) as { id?: unknown; result?: unknown };
    return id === INITIALIZE.id && result !== undefined;
  } catch {
    return false; // no protocol
  }
}
