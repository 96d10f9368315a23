import { spawn } from "node:child_process";
import { readHostKeys } from "../policy/git/host-key.ts";

const SECONDS = 5;
const MAX_BYTES = 64 * 1024;

/** The keys that a host shows now, for the user to compare: nothing of it is trusted. Empty where it shows none. */
export async function shownHostKeys({ host, port }: { host: string; port: number | null }): Promise<string> {
  const words = ["-T", String(SECONDS), "-p", String(port ?? 22), "--", host];
  const text = await new Promise<string>((done) => {
    let told = "";
    const child = spawn("ssh-keyscan", words, { stdio: ["ignore", "pipe", "ignore"], timeout: SECONDS * 2000 });
    child.stdout.on("data", (chunk: Buffer) => (told = (told + chunk.toString()).slice(0, MAX_BYTES)));
    child.once("error", () => done(""));
    child.once("close", () => done(told));
  });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const keys = lines.flatMap((line) => readHostKeys(line) ?? []);
  if (keys.length === 0) return "; it shows none now";
  return `; it shows ${keys.map(({ type, base64, fingerprint }) => `${fingerprint} (${type} ${base64})`).join(", ")}`;
}
