import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isClocheError } from "../base/errors.ts";
import { runTokenCommand } from "./token-command.ts";

const SECRET = "do-not-tell-4f9d1c70";
const sh = (script: string, patienceMs?: number) =>
  runTokenCommand(["/bin/sh", "-c", script], patienceMs === undefined ? {} : { patienceMs });

describe("a token command", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "token-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("prints a token, plain or as JSON", async () => {
    expect(await sh("echo abc")).toEqual({ token: "abc", expiresInSeconds: null });
    expect(await sh(`echo '{"access_token": "abc", "expires_in": 60}'`)).toEqual({
      token: "abc",
      expiresInSeconds: 60,
    });
    expect(await sh(`echo '{"token": "abc"}'`)).toEqual({ token: "abc", expiresInSeconds: null });
  });

  it.each([
    [`echo ${SECRET}; echo ${SECRET} >&2; exit 3`, /"sh" failed with exit code 3/],
    [`echo ${SECRET}; kill -9 $$`, /"sh" was ended by SIGKILL/],
    ["true", /"sh" printed no token/],
    [`printf '${SECRET}\\n${SECRET}'`, /"sh" printed no token/],
    [`echo '{"secret": "${SECRET}"}'`, /"sh" printed JSON without a token/],
    [`echo '{"token": "${SECRET}'`, /"sh" printed JSON that cannot be read/],
    [`head -c 100000 /dev/zero | tr '\\0' x`, /"sh" printed more than 65536 bytes/],
  ])("G-55 says what is wrong with `%s`, and not what it printed", async (script, told) => {
    const error: unknown = await sh(script).catch((thrown: unknown) => thrown);
    if (!isClocheError(error)) throw new Error("no failure");
    expect(error.code).toBe("TOKEN_UNAVAILABLE");
    expect(error.message).toMatch(told);
    expect(JSON.stringify([error.message, error.hint, error.details, String(error.cause)])).not.toContain(SECRET);
  });

  it("G-57 is ended when it hangs, with all that it has started", async () => {
    const file = join(folder, "pid");
    await expect(sh(`sleep 1000 & echo $! > ${file}; sleep 1000`, 300)).rejects.toThrow(/did not end within 0.3 s/);
    const pid = Number(readFileSync(file, "utf8"));
    await expect
      .poll(() => {
        try {
          return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2];
        } catch {
          return "gone";
        }
      })
      .toMatch(/gone|Z/);
  });

  it("G-57 is not waited for when it has ended, and what it started holds its output open", async () => {
    await expect(sh("sleep 1000 & echo abc")).rejects.toThrow(/"sh" left its output open/);
  });

  it("is named when there is none", async () => {
    await expect(runTokenCommand([join(folder, "missing")])).rejects.toThrow(/"missing" cannot be started: ENOENT/);
    writeFileSync(join(folder, "closed"), "");
    await expect(runTokenCommand([join(folder, "closed")])).rejects.toThrow(/"closed" cannot be started: EACCES/);
  });
});
