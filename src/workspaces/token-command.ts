import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { basename } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

const PATIENCE_MS = 30_000;
const MAX_BYTES = 65_536;
/** What a header or a parameter can hold. */
const TOKEN = /^[\x20-\x7e]{1,16384}$/;

export interface PrintedToken {
  readonly token: string;
  /** Null when it did not say. */
  readonly expiresInSeconds: number | null;
}

/** Whether a text can be sent as a token. */
export const isSendable = (token: string): boolean => TOKEN.test(token) && token.trim() === token;

/**
 * Runs a command of the host's that prints a token: plain, or as JSON with `expires_in`. Throws TOKEN_UNAVAILABLE.
 *
 * SECURITY: an error names the command, never what it printed or was given (G-55)
 */
export async function runTokenCommand(
  argv: readonly string[],
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<PrintedToken> {
  const [program = "", ...words] = argv;
  const printed = await run(program, words, patienceMs);
  const read = typeof printed === "string" ? printed : readToken(printed.toString("utf8").trim());
  if (typeof read === "string") throw unavailable(program, read);
  return read;
}

function unavailable(program: string, why: string): Error {
  return failure("TOKEN_UNAVAILABLE", `The token command "${basename(program)}" ${why}`);
}

/** What it printed, or what went wrong. */
function run(program: string, words: readonly string[], patienceMs: number): Promise<Buffer | string> {
  return new Promise((done) => {
    // A group of its own, so that what it started ends with it. What it says on standard error may quote a credential.
    const child = spawn(program, words, { cwd: homedir(), detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const parts: Buffer[] = [];
    let size = 0;
    let why: string | undefined;
    const end = (reason: string) => {
      why ??= reason;
      killGroup(child.pid);
      child.stdout.destroy();
    };
    const timer = setTimeout(() => end(`did not end within ${patienceMs / 1000} s`), patienceMs);
    child.stdout.on("data", (part: Buffer) => {
      size += part.length;
      if (size > MAX_BYTES) end(`printed more than ${MAX_BYTES} bytes`);
      else parts.push(part);
    });
    child.stdout.on("error", () => undefined);
    child.once("error", (error) => {
      clearTimeout(timer);
      done(`cannot be started: ${errnoOf(error) ?? "unknown"}`);
    });
    child.once("exit", (code, signal) => {
      if (code !== 0) why ??= code === null ? `was ended by ${signal ?? "a signal"}` : `failed with exit code ${code}`;
      // What it left behind may hold its output open.
      setTimeout(() => end("left its output open"), 1000).unref();
    });
    child.once("close", () => {
      clearTimeout(timer);
      killGroup(child.pid);
      done(why ?? Buffer.concat(parts));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // nobody is left in it
  }
}

function readToken(text: string): PrintedToken | string {
  if (!text.startsWith("{")) return isSendable(text) ? { token: text, expiresInSeconds: null } : "printed no token";
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return "printed JSON that cannot be read";
  }
  const token = fields["token"] ?? fields["access_token"];
  const expires = fields["expires_in"];
  if (typeof token !== "string" || !isSendable(token)) return "printed JSON without a token";
  return { token, expiresInSeconds: typeof expires === "number" && expires > 0 ? expires : null };
}
