import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation, runProcess } from "../helpers/installation.ts";
import { guestPids, killDaemon } from "../helpers/running-daemon.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

const TOKEN = "tok-4f9c2e71d8ab-secret";
const KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nxYz0123456789abcdef\n-----END KEY-----";
const WORD = "test"; // in everything
const MARK = "[REDACTED]";

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("se");
  writeFileSync(at.path("key.pem"), `${KEY}\n`);
  const secrets = [
    { name: "TOKEN", value: TOKEN },
    { name: "KEY", file_path: at.path("key.pem") },
  ];
  id = (await at.sdk.createWorkspace({ environment: "host", secrets })).workspace_id;
});
afterAll(() => at[Symbol.asyncDispose]());

const echo = async (workspace: string) =>
  (
    await at.sdk.execWorkspace(workspace, {
      command: 'echo "<$T>"; printf %s "$T" | wc -c',
      secret_env: { TOKEN: "T" },
    })
  ).stdout;
const USABLE = `<${MARK}>\n${TOKEN.length}\n`;
const grepHome = async (text: string) => (await runProcess("grep", ["-rlaF", "--", text, at.home])).stdout;

describe("what is no secret", () => {
  it.each([
    ["an empty one", [{ name: "X", value: "" }], "SECRET_INVALID"],
    ["three characters", [{ name: "X", value: "abc" }], "SECRET_INVALID"],
    ["1 MiB", [{ name: "X", value: "s".repeat(1024 * 1024) }], "SECRET_INVALID"],
    [
      "more than 96 KiB of them",
      ["A", "B", "C"].map((name) => ({ name, value: name.repeat(60_000) })),
      "SECRET_INVALID",
    ],
    ["a NUL", [{ name: "X", value: "abcd\0efgh" }], "SECRET_INVALID"],
    [
      "one twice",
      [
        { name: "X", value: "abcdef" },
        { name: "X", value: "ghijkl" },
      ],
      "SECRET_INVALID",
    ],
    ["a name that is no variable", [{ name: "1X", value: "abcdef" }], "INVALID_ARGUMENT"],
    ["a file that is not there", [{ name: "X", file_path: "/no/such/file" }], "SECRET_INVALID"],
    ["a folder", [{ name: "X", file_path: "/etc" }], "SECRET_INVALID"],
  ])("%s is refused, makes nothing, and its value is in no message", async (_what, secrets, code) => {
    const before = (await at.sdk.listWorkspaces()).count;
    const error: unknown = await at.sdk.createWorkspace({ environment: "host", secrets }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code });
    for (const secret of secrets)
      if ("value" in secret && secret.value.length > 3) expect(String(error)).not.toContain(secret.value);
    expect((await at.sdk.listWorkspaces()).count).toBe(before);
  });

  it("an unknown name in secret_env is SECRET_NOT_FOUND for a command, a service and a shell, and nothing runs", async () => {
    const { command_count: before } = await at.sdk.statusWorkspace(id);
    const secret_env = { NOPE: "N" };
    for (const call of [
      at.sdk.execWorkspace(id, { command: "true", secret_env }),
      at.sdk.startService(id, "s", { command: "true", secret_env }),
      at.sdk.openShell(id, { secret_env }),
    ])
      await expect(call).rejects.toThrow(failing("SECRET_NOT_FOUND", '"NOPE"'));
    expect((await at.sdk.statusWorkspace(id)).command_count).toBe(before);
  });
});

describe("a secret (G-17)", () => {
  it("is in the environment only where it was asked for, and shown by name and kind alone", async () => {
    expect(await echo(id)).toBe(USABLE);
    expect((await at.sdk.execWorkspace(id, { command: 'echo "<$T$TOKEN>"; env | grep -c tok- || true' })).stdout).toBe(
      "<>\n0\n",
    );
    expect((await at.sdk.statusWorkspace(id)).secrets).toEqual([
      { name: "TOKEN", source_kind: "literal" },
      { name: "KEY", source_kind: "file" },
    ]);
  });

  it("of several lines is whole in the variable, and every line of it is redacted", async () => {
    const { stdout } = await at.sdk.execWorkspace(id, {
      command: 'printf %s "$K" | sha256sum; echo "$K"; echo "$K" | sed -n 2p; echo "$K" | tac',
      secret_env: { KEY: "K" },
    });
    const sum = (await runProcess("sh", ["-c", `printf %s "$(cat ${at.path("key.pem")})" | sha256sum`])).stdout;
    expect(stdout).toBe(`${sum}${MARK}\n${MARK}\n${`${MARK}\n`.repeat(4)}`);
  });

  it("is found when it comes in pieces, in a stream, in a shell and in a service's log", async () => {
    const pieces =
      'echo "$T" | fold -w 1 | while IFS= read -r c; do printf %s "$c"; sleep 0.02; done; echo; printf %s "$T" | head -c 10';
    let streamed = "";
    for await (const event of at.sdk.streamWorkspace(id, { command: pieces, secret_env: { TOKEN: "T" } }))
      if (event.type === "stdout") streamed += event.data;
    expect(streamed, "a beginning alone is shown at the end").toBe(`${MARK}\n${TOKEN.slice(0, 10)}`);
    const { shell_id: shell } = await at.sdk.openShell(id, { secret_env: { TOKEN: "T" } });
    await at.sdk.writeShell(id, shell, { input: 'echo "<$T>"; echo end-$((1+1))' });
    await eventually(async () => expect((await at.sdk.readShell(id, shell)).output).toContain("end-2"));
    for (const plain of [false, true]) {
      const { output } = await at.sdk.readShell(id, shell, { plain });
      expect(output).toContain(`<${MARK}>`);
      expect(output).not.toContain(TOKEN);
    }
    let joined = "";
    for (let cursor = 0; ;) {
      const part = await at.sdk.readShell(id, shell, { cursor, max_chars: 7 });
      joined += part.output;
      if (part.next_cursor === cursor) break;
      cursor = part.next_cursor;
    }
    expect(joined).not.toContain(TOKEN.slice(0, 12));
    await at.sdk.closeShell(id, shell);
    await at.sdk.startService(id, "leaky", {
      command: `${pieces}; echo; echo "$T" >&2; sleep 600`,
      secret_env: { TOKEN: "T" },
    });
    await eventually(async () => expect((await at.sdk.logsService(id, "leaky")).stderr).toBe(`${MARK}\n`));
    expect((await at.sdk.logsService(id, "leaky", { all: true })).stdout).toBe(`${MARK}\n${TOKEN.slice(0, 10)}\n`);
    await at.sdk.stopService(id, "leaky");
    const failed = at.sdk.startService(id, "fails", {
      command: 'echo "bad token $T" >&2; exit 1',
      secret_env: { TOKEN: "T" },
      readiness: { type: "file", path: "never" },
    });
    await expect(failed).rejects.toThrow(failing("SERVICE_NOT_READY", `bad token ${MARK}`));
    await expect(failed).rejects.not.toThrow(TOKEN);
  });

  it("is redacted in files, names, links, diffs, patches, errors, command texts, logs and summaries", async () => {
    await at.sdk.execWorkspace(id, {
      command: `mkdir "d-$T"; echo "in $T" > "d-$T/f"; ln -s "$T" link; echo ${TOKEN}; echo "key $T" > conf; cat "no-$T"`,
      secret_env: { TOKEN: "T" },
    });
    const rejected = at.sdk.applyWorkspacePatch(id, {
      patch: "--- a/conf\n+++ b/conf\n@@ -1 +1 @@\n-key other\n+key new\n",
    });
    await expect(rejected).rejects.toThrow(failing("PATCH_REJECTED", MARK));
    const shown: unknown[] = [
      await rejected.catch((error: unknown) => ({
        ...(error as object),
        text: String(error),
        message: (error as Error).message,
      })),
      await at.sdk.listWorkspaceFiles(id, { recursive: true }),
      await at.sdk.readWorkspaceFile(id, "conf"),
      await at.sdk.readWorkspaceFile(id, "conf", { max_bytes: 8 }),
      await at.sdk.diffWorkspace(id),
      await at.sdk.logsWorkspace(id),
      await at.sdk.summarizeWorkspace(id),
      await at.sdk.readWorkspaceFile(id, `no-${TOKEN}`).catch((error: unknown) => (error as Error).message),
      await at.sdk.listWorkspaceFiles(id, { path: `no-${TOKEN}` }).catch((error: unknown) => (error as Error).message),
      await at.sdk
        .writeWorkspaceFile(id, `d-${TOKEN}`, { text: "" })
        .catch((error: unknown) => (error as Error).message),
      await at.sdk
        .execWorkspace(id, { command: "true", cwd: `no-${TOKEN}` })
        .catch((error: unknown) => (error as Error).message),
      (await at.cli(["workspace", "logs", id])).stdout,
      (await at.cli(["workspace", "summary", id])).stdout,
      (await at.cli(["workspace", "diff", id])).stdout,
    ];
    for (const [nth, one] of shown.entries()) {
      const text = JSON.stringify(one);
      expect(text, `answer ${nth}`).not.toContain(TOKEN);
      expect(text, `answer ${nth}`).toContain(MARK);
    }
    expect((await at.sdk.readWorkspaceFile(id, "conf", { max_bytes: 8 })).content).toBe(`key ${MARK}`);
    const out = at.path("conf.out");
    await at.sdk.exportWorkspace(id, "conf", { output_path: out });
    expect(readFileSync(out, "utf8"), "an export is as it is").toBe(`key ${TOKEN}\n`);
    await at.sdk.execWorkspace(id, { command: "rm -rf /workspace/*" });
  });

  it("that is a part of common words is taken out of all of them", async () => {
    const own = (await at.sdk.createWorkspace({ environment: "host", secrets: [{ name: "W", value: WORD }] }))
      .workspace_id;
    const { stdout } = await at.sdk.execWorkspace(own, {
      command: "echo latest tests are the fattest; printf testest",
    });
    expect(stdout).toBe(`la${MARK} ${MARK}s are the fat${MARK}\n${MARK}`);
    await at.sdk.deleteWorkspace(own);
  });
});

describe("values (G-17)", () => {
  it("are in no file of the home, in no command line, and in no environment of a process on the host", async () => {
    const command = "until test -e /tmp/enough; do sleep 0.05; done";
    const sleeping = at.sdk.execWorkspace(id, { command, secret_env: { TOKEN: "T" } });
    sleeping.catch(() => undefined);
    await at.sdk.createSnapshot(id, "s");
    await eventually(async () => expect((await at.sdk.logsWorkspace(id)).entries.at(-1)?.state).toBe("running"));
    for (const text of [TOKEN, "MIIEvQIBADANBgkqhkiG9w0BAQEF"]) expect(await grepHome(text)).toBe("");
    // What runs in the sandbox with the secret in its environment is the sandbox's; on the host its `environ` is for root and its own user.
    const inside = new Set(guestPids(at.home, id));
    const isInside = (pid: number): boolean => {
      for (let at = pid; at > 1;) {
        if (inside.has(at)) return true;
        at = Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${at}/status`, "latin1"))?.[1] ?? 0);
      }
      return false;
    };
    for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one) && Number(one) !== process.pid)) {
      try {
        for (const file of ["cmdline", "environ"]) {
          const found = readFileSync(join("/proc", name, file), "latin1").includes(TOKEN);
          if (found && !(file === "environ" && isInside(Number(name)))) expect.fail(`${file} of ${name}`);
        }
      } catch (error) {
        if (!/ENOENT|ESRCH|EACCES/.test(String(error))) throw error; // ended meanwhile
      }
    }
    expect(readFileSync(join(at.home, "daemon.log"), "utf8")).not.toContain(TOKEN);
    await at.sdk.execWorkspace(id, { command: "touch /tmp/enough" });
    await sleeping;
  });

  it("are usable and redacted after kill -9, reset, stop and start, in a fork, and for a command that ran meanwhile", async () => {
    const running = (async () => {
      let text = "";
      for await (const event of at.sdk.streamWorkspace(id, {
        command: 'for i in $(seq 20); do echo "$i $T"; sleep 0.1; done',
        secret_env: { TOKEN: "T" },
      }))
        if (event.type === "stdout") text += event.data;
      return text;
    })();
    await eventually(async () => expect((await at.sdk.logsWorkspace(id)).entries.at(-1)?.command).toMatch(/^for i/));
    await killDaemon(at);
    expect(await echo(id), "after kill -9").toBe(USABLE);
    expect(await running).toBe(Array.from({ length: 20 }, (_, n) => `${n + 1} ${MARK}\n`).join(""));
    await at.sdk.resetWorkspace(id);
    expect(await echo(id), "after a reset").toBe(USABLE);
    await at.sdk.stopWorkspace(id);
    await at.sdk.startWorkspace(id);
    expect(await echo(id), "after a stop and start").toBe(USABLE);
    const fork = (await at.sdk.forkWorkspace(id)).workspace_id;
    expect(await echo(fork), "in a fork").toBe(USABLE);
    await killDaemon(at);
    expect(await echo(fork), "in a fork after kill -9").toBe(USABLE);
    await at.sdk.deleteWorkspace(fork);
    expect(await grepHome(TOKEN)).toBe("");
  });

  it("of a workspace that is stopped while the daemon dies are gone, and whoever asks is told", async () => {
    await at.sdk.stopWorkspace(id);
    await killDaemon(at);
    const started = await at.sdk.startWorkspace(id).catch((error: unknown) => error);
    if (started instanceof Error) {
      expect(started).toMatchObject({ code: expect.stringMatching(/SECRET/) as string });
    } else {
      await expect(echo(id)).rejects.toThrow(failing("SECRET_NOT_FOUND"));
    }
  });

  it("are redacted also by a daemon that found the sandbox too slow to answer at its start", async () => {
    const own = (await at.sdk.createWorkspace({ environment: "host", secrets: [{ name: "TOKEN", value: TOKEN }] }))
      .workspace_id;
    const guests = guestPids(at.home, own);
    for (const pid of guests) process.kill(pid, "SIGSTOP");
    await killDaemon(at);
    await at.sdk.listWorkspaces();
    for (const pid of guests) process.kill(pid, "SIGCONT");
    expect(await echo(own)).toBe(USABLE);
    await at.sdk.deleteWorkspace(own);
  });
});
