import assert from "node:assert/strict";
import type { OutputChunk } from "../../sdk/options.ts";
import { scenarios } from "../scenario.ts";

const textOf = (chunks: readonly OutputChunk[], channel: OutputChunk["channel"]): string =>
  Buffer.concat(chunks.filter((one) => one.channel === channel).map(({ data }) => data)).toString();

export const COMMAND_SCENARIOS = scenarios("commands", {
  "an argv is run as it is, a string by a shell": async (at) => {
    const id = await at.shared();
    const argv = await at.client.execWorkspace(id, { command: ["printf", "%s|", "a b", "$HOME", "*"] });
    assert.equal(argv.stdout, "a b|$HOME|*|");
    assert.equal(await at.out(id, 'printf "%s|" "a b" $((1+1))'), "a b|2|");
  },
  "standard output and standard error are apart, and bytes stay what they are": async (at) => {
    const id = await at.shared();
    const result = await at.sh(id, "echo out; echo err >&2; printf '\\303\\244'");
    assert.deepEqual([result.stdout, result.stderr], ["out\nä", "err\n"]);
    assert.match(result.execution_mode, /^guest_/);
    assert.equal((await at.client.statusWorkspace(id)).execution_mode, result.execution_mode);
  },
  "the exit code is the command's own": async (at) => {
    const id = await at.shared();
    for (const code of [0, 1, 3, 125, 255]) assert.equal((await at.sh(id, `exit ${code}`)).exit_code, code);
  },
  "a signal that ends a command is 128 and its number": async (at) => {
    const id = await at.shared();
    assert.equal((await at.sh(id, "kill -KILL $$")).exit_code, 137);
    assert.equal((await at.sh(id, "kill -TERM $$")).exit_code, 143);
  },
  "a program that is not there is 127, one that may not be run is 126": async (at) => {
    const id = await at.shared();
    assert.equal((await at.client.execWorkspace(id, { command: ["/no/such/program"] })).exit_code, 127);
    await at.client.writeWorkspaceFile(id, "plain.txt", { text: "no program\n" });
    assert.equal((await at.client.execWorkspace(id, { command: ["/workspace/plain.txt"] })).exit_code, 126);
  },
  "a command has its user, home, host name, folder and variables, and no others": async (at) => {
    const id = await at.shared();
    assert.equal(
      await at.out(id, "id -u; id -g; id -un; pwd; echo $HOME; hostname"),
      `1000\n1000\nagent\n/workspace\n/home/agent\n${id}\n`,
    );
    assert.equal(await at.out(id, "pwd", { cwd: "src" }), "/workspace/src\n");
    assert.equal(await at.out(id, 'echo "$GIVEN"', { env: { GIVEN: "a=b c" } }), "a=b c\n");
    assert.equal(await at.out(id, 'echo "$PIP_RETRIES"', { env: { PIP_RETRIES: "7" } }), "7\n");
    assert.equal(await at.out(id, 'echo "$PIP_RETRIES $npm_config_fetch_retries"'), "1 0\n");
    const names = (await at.out(id, "env | cut -d= -f1 | sort | tr '\\n' ' '")).trim().split(" ");
    assert.deepEqual(
      names.filter((name) => !["_", "SHLVL", "OLDPWD"].includes(name)),
      await baseVariables(names),
    );
  },
  "a folder that is not there, or not the workspace's, is not entered": async (at) => {
    const id = await at.shared();
    const missing = await at.sh(id, "true", { cwd: "no/such" });
    assert.equal(missing.exit_code, 127);
    assert.match(missing.stderr, /Cannot enter/);
    assert.equal(await at.refusal(at.sh(id, "true", { cwd: "/etc" })), "PATH_OUTSIDE_WORKSPACE");
  },
  "a time-out ends a command and all that it started": async (at) => {
    const id = await at.shared();
    const began = Date.now();
    const result = await at.sh(id, "trap '' TERM; echo early; (setsid sleep 333 &); while :; do sleep 1; done", {
      timeout_seconds: 3, // time enough to begin, on a machine that is busy
    });
    assert.deepEqual([result.timed_out, result.stdout], [true, "early\n"]);
    assert.notEqual(result.exit_code, 0);
    assert.ok(Date.now() - began < 20_000, "it ends soon");
    assert.equal(
      await at.out(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 33[3]' || true"),
      "0\n",
    );
  },
  "output beyond the cap is cut in the middle, and the result says so": async (at) => {
    const id = await at.shared();
    const result = await at.sh(
      id,
      "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last; echo short >&2",
      { timeout_seconds: 60 },
    );
    assert.deepEqual([result.exit_code, result.stdout_truncated, result.stderr_truncated], [0, true, false]);
    assert.ok(result.stdout.startsWith("first\n") && result.stdout.endsWith("\nlast\n"), "both ends are there");
    assert.match(result.stdout, /bytes left out/);
    assert.ok(result.stdout.length < 1.2 * 1024 * 1024);
    assert.equal(result.stderr, "short\n");
  },
  "a stream gives everything, whatever its size": async (at) => {
    const stream = at.client.openCommand(await at.shared(), {
      command: "head -c 3000000 /dev/zero; echo end >&2; exit 4",
    });
    const chunks: OutputChunk[] = [];
    for await (const chunk of stream.output()) chunks.push(chunk);
    assert.equal(
      chunks.reduce((sum, { channel, data }) => sum + (channel === "stdout" ? data.length : 0), 0),
      3_000_000,
    );
    assert.equal(textOf(chunks, "stderr"), "end\n");
    assert.equal((await stream.result).exit_code, 4);
  },
  "standard input reaches a command, and its end": async (at) => {
    const stream = at.client.openCommand(await at.shared(), { command: "cat; echo done", stdin: true });
    const chunks: OutputChunk[] = [];
    const reading = (async () => {
      for await (const chunk of stream.output()) chunks.push(chunk);
    })();
    await stream.write("typed\n");
    await stream.write("x".repeat(200_000));
    stream.endInput();
    await reading;
    assert.equal(textOf(chunks, "stdout"), `typed\n${"x".repeat(200_000)}done\n`);
    assert.equal((await stream.result).exit_code, 0);
  },
  "without input, standard input is at its end": async (at) => {
    assert.equal(await at.out(await at.shared(), "cat; echo done"), "done\n");
  },
  "a terminal has its size, changes it, and takes keys": async (at) => {
    const stream = at.client.openCommand(await at.shared(), {
      command: "tty; stty size; trap 'stty size; exit 7' WINCH; echo ready; while :; do sleep 0.05; done",
      stdin: true,
      pty: { cols: 90, rows: 33 },
    });
    let seen = "";
    for await (const { data } of stream.output()) {
      const had = seen.includes("ready");
      seen += data.toString();
      if (!had && seen.includes("ready")) await stream.resize({ cols: 50, rows: 20 });
    }
    assert.match(seen, /^\/dev\/pts\/\d+\r\n33 90\r\nready\r\n20 50\r\n$/);
    assert.equal((await stream.result).exit_code, 7);
  },
  "Ctrl-C on a terminal interrupts what runs there": async (at) => {
    const stream = at.client.openCommand(await at.shared(), {
      command: ["perl", "-e", '$| = 1; print "ready\\n"; sleep 300'],
      stdin: true,
      pty: { cols: 80, rows: 24 },
    });
    for await (const { data } of stream.output()) if (data.includes("ready")) await stream.write("\u0003");
    assert.equal((await stream.result).exit_code, 130);
  },
  "a running command gets signals": async (at) => {
    const program = '$| = 1; $SIG{USR1} = sub { print "got\\n"; exit 9 }; print "ready\\n"; sleep 1 while 1';
    const stream = at.client.openCommand(await at.shared(), { command: ["perl", "-e", program] });
    let seen = "";
    for await (const { data } of stream.output()) {
      seen += data.toString();
      if (seen === "ready\n") await stream.signal("USR1");
    }
    assert.equal(seen, "ready\ngot\n");
    assert.equal((await stream.result).exit_code, 9);
  },
  "leaving a stream ends its command": async (at) => {
    const id = await at.shared();
    const stream = at.client.openCommand(id, { command: "echo ready; exec sleep 444" });
    for await (const { data } of stream.output()) if (data.includes("ready")) break;
    await stream.close();
    await at.eventually(async () => {
      assert.equal(
        await at.out(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 44[4]' || true"),
        "0\n",
      );
    });
  },
  "many commands run side by side": async (at) => {
    const id = await at.shared();
    const results = await Promise.all(Array.from({ length: 20 }, (_, nth) => at.out(id, `sleep 0.2; echo ${nth}`)));
    assert.deepEqual(
      results,
      Array.from({ length: 20 }, (_, nth) => `${nth}\n`),
    );
  },
  "the journal has every command, in order": async (at) => {
    const id = await at.create();
    await at.sh(id, "echo one");
    await at.sh(id, "echo two >&2; exit 2");
    const { entries } = await at.client.logsWorkspace(id);
    assert.deepEqual(
      entries.map(({ sequence, state, command, exit_code, stdout, stderr }) => [
        sequence,
        state,
        command,
        exit_code,
        stdout,
        stderr,
      ]),
      [
        [1, "done", "echo one", 0, "one\n", ""],
        [2, "done", "echo two >&2; exit 2", 2, "", "two\n"],
      ],
    );
  },
});

/** The variables that a command has anyway: the same list on every backend. */
function baseVariables(found: readonly string[]): Promise<string[]> {
  const base = ["HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"];
  // Tools that reach nothing are told to try once.
  const tools =
    /^(BUNDLE|CARGO_NET|PIP|POETRY_REQUESTS_MAX|RUSTUP_MAX|UV_HTTP|YARN_HTTP|npm_config_fetch)_RETR(Y|IES)$/i;
  return Promise.resolve(found.filter((name) => base.includes(name) || tools.test(name)));
}
