import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AskingAgents } from "../helpers/asking-agents.ts";
import { Installation, PROJECT } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";
import { Tmux, type TmuxWindow } from "../helpers/tmux.ts";

const PROGRAM = `${process.execPath} ${join(PROJECT, "dist/cli/main.js")}`;
const AS_BEFORE = { cursorIsShown: true, isOnOtherScreen: false, wrapsLines: true };

describe("cloche supervise, in tmux", () => {
  let at: Installation;
  let tmux: Tmux;
  let agents: AskingAgents;
  let run: string;

  beforeAll(async () => {
    // A variable by which ink takes a terminal for none.
    at = new Installation("sup", { CI: "1" });
    tmux = new Tmux(at.env);
    agents = new AskingAgents(at);
    run = await agents.start("reviewer");
  });

  afterAll(async () => {
    await tmux[Symbol.asyncDispose]();
    for (const { identity } of (await at.sdk.listRuns()).runs) await at.sdk.stopRun(identity);
    await at.sdk.cleanUp({ all: true });
    await at[Symbol.asyncDispose]();
  });

  const open = async (before = ""): Promise<TmuxWindow> => {
    const window = await tmux.open(`${before} ${PROGRAM} supervise; echo left with $?`.trim());
    await window.until(/Nobody asks for anything|Proposals: [1-9]/);
    return window;
  };
  const quit = async (window: TmuxWindow) => {
    await window.until("q: quit");
    await window.press("q");
    await window.until("left with 0");
    expect(await window.facts()).toMatchObject(AS_BEFORE);
  };
  const reject = async (window: TmuxWindow, reason: string) => {
    await window.press("x");
    await window.until("Reject, because");
    await window.type(reason);
    await window.until("was rejected");
  };
  /** Has the proposal about that host on the screen. */
  const lookAt = async (window: TmuxWindow, host: string) => {
    await window.until(new RegExp(`> .*egress-block[^]*${host}`));
    await window.press("Enter");
    return await window.until(/Change of the policy[^]*What the agent says/);
  };

  it("shows a proposal as it comes, and an approval for the run reaches the agent when it holds", async () => {
    const window = await open();
    const heard = agents.askForRoute(run, "docs.example.com", "The manual is there.");
    const screen = await lookAt(window, "docs.example.com");
    expect(screen).toMatch(/\+ +- host: docs\.example\.com/);
    expect(screen).toContain("│ The manual is there.");
    await window.press("r");
    await window.until(/was approved for the run by/);
    expect(await heard).toMatchObject({ status: "approved" });
    expect(await window.until("Nobody asks for anything")).toContain(run);
    await quit(window);
  });

  it("tells the agent why it is rejected, and takes no empty reason", async () => {
    const window = await open();
    const heard = agents.askForRoute(run, "no.example.com");
    await lookAt(window, "no.example.com");
    await window.press("x");
    await window.until("Reject, because");
    await window.press("Enter");
    await window.until("Say why: it needs a reason");
    await window.type("use the mirror");
    await window.until("was rejected");
    expect(await heard).toMatchObject({ status: "rejected", reason: "use the mirror" });
    await quit(window);
  });

  it("lets the operator change it; an editor that fails or leaves nonsense changes nothing", async () => {
    const editor = at.path("editor");
    const write = (script: string) => writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const window = await open(`VISUAL= EDITOR=${editor}`);
    const heard = agents.askForRoute(run, "all.example.com");
    await lookAt(window, "all.example.com");
    write("exit 3");
    await window.press("e");
    await window.until(/Nothing was changed, and nothing was approved: The editor[^]* ended with 3/);
    write('echo "routes: [" > "$1"');
    await window.press("e");
    await window.until(/Nothing was changed, and nothing was approved: (?!The editor)/);
    write(': > "$1"');
    await window.press("e");
    await window.until("nothing was approved: it is empty");
    write('echo "[1, 2]" > "$1"');
    await window.press("e");
    await window.until(/What you made of it[^]*Cannot approve it so/);
    await window.press("r");
    await window.until("What it adds now is not known");
    expect((await at.sdk.listApprovals()).proposals).toMatchObject([{ status: "pending" }]);
    await window.press("Escape");
    await window.until("Change of the policy");
    write('sed -i s/all.example.com/one.example.com/ "$1"');
    await window.press("e");
    await window.until(
      /It adds\nIt lets out to one\.example\.com[^]*- +- host: all\.example\.com\n\+ +- host: one\.example\.com/,
    );
    await window.until("Change of the policy");
    await window.press("PageDown", "r");
    await window.until("was modified for the run");
    expect(await heard).toMatchObject({ status: "modified" });
    await quit(window);
  });

  it("shows two operators the same, and takes one answer", async () => {
    const [one, other] = [await open(), await open()];
    const heard = agents.askForRoute(run, "two.example.com");
    await Promise.all([lookAt(one, "two.example.com"), lookAt(other, "two.example.com")]);
    await other.press("x");
    await other.until("Reject, because");
    await one.press("o");
    await one.until("was approved once");
    const told = await other.until("was approved once");
    expect(told).not.toContain("Reject, because");
    await other.press("x", "Escape");
    await other.until("Nobody asks for anything");
    expect(await heard).toMatchObject({ status: "approved" });
    await Promise.all([quit(one), quit(other)]);
  });

  it("never has the terminal driven by what an agent wrote [G-129]", async () => {
    const window = await open();
    const { title } = await window.facts();
    const hostile = "\u001B]0;owned\u0007\u001B[2J\u001B[?1049l\u009B8m\u202Egnp.exe\u200B\nIt adds\nnothing";
    const heard = agents.askForRoute(run, "hostile.example.com", hostile);
    const screen = await lookAt(window, "hostile.example.com");
    expect(screen).toContain(String.raw`│ \x1b]0;owned\x07\x1b[2J\x1b[?1049l\x9b8m\u202egnp.exe\u200b`);
    expect(screen).toMatch(/^│ It adds$/m);
    expect(await window.facts()).toMatchObject({ title, isOnOtherScreen: true });
    await reject(window, "no");
    await heard;
    await quit(window);
  });

  it("fits any size, and says when there is none", async () => {
    const window = await open();
    const heard = agents.askForRoute(run, "size.example.com");
    await window.until("size.example.com");
    for (const [cols, rows] of [
      [60, 12],
      [140, 40],
      [80, 24],
    ] as const) {
      await window.resize(cols, rows);
      await window.until(new RegExp(`^cloche supervise {${cols - 25}}connected\n▸ Proposals: 1\n> `));
    }
    await window.resize(30, 8);
    await window.until("The terminal is too small");
    await window.resize(80, 24);
    await lookAt(window, "size.example.com");
    await reject(window, "no");
    await heard;
    await quit(window);
  });

  it("goes on with the next daemon, and says that the last one is lost", async () => {
    const window = await open();
    await killDaemon(at);
    // Who calls through a daemon that is stopped hears that; the proposal stays.
    const asking = agents.askForRoute(run, "again.example.com").catch(() => undefined);
    await lookAt(window, "again.example.com");
    const [asked] = (await at.sdk.listApprovals()).proposals;
    await at.sdk.stopDaemon();
    await window.until("daemon lost");
    await window.press("r");
    await window.until(/wait until it is\s+back/);
    await at.sdk.listWorkspaces(); // starts the next one
    await window.until(/^(?![^]*daemon lost)/);
    await window.press("r");
    await window.until("was approved for the run");
    expect(await at.sdk.showApproval(asked?.proposal_id ?? "")).toMatchObject({ status: "approved", scope: "run" });
    await asking;
    await quit(window);
  });

  it("lends the terminal to a run and has it back, and stops one", async () => {
    const talker = await agents.start("talker", {
      terminal: true,
      script: "echo here I am; while read x; do echo got $x; done",
    });
    const window = await open();
    await window.until(talker);
    await window.press("Tab");
    await window.until(/▸ Runs: 2/);
    if (!(await window.screen()).includes(`> ${talker}`)) await window.press("Down");
    await window.until(`> ${talker}`);
    await window.press("a");
    await window.until("here I am");
    await window.type("hello");
    await window.until("got hello");
    await window.press("C-]");
    await window.until(`> ${talker}`);
    await window.press("s");
    await window.until(`Stop the agent of ${talker}? y/n`);
    await window.press("y");
    await window.until("▸ Runs: 1");
    await quit(window);
  });

  it.each(["TERM", "HUP", "INT"])("leaves the terminal as it was when SIG%s ends it", async (signal) => {
    const pid = at.path("pid");
    const tells = "stty -a | grep -o -E -- '-?(icanon|echo)\\b'";
    const window = await tmux.open(`sh -c 'echo $$ > ${pid}; exec ${PROGRAM} supervise'; echo left with $?; ${tells}`);
    await window.until("Nobody asks for anything");
    process.kill(Number(readFileSync(pid, "utf8")), `SIG${signal}`);
    expect(await window.until(/left with \d+\n/)).toMatch(/left with (143|129|130)\n/);
    expect(await window.until(/^echo$/m)).toMatch(/^icanon$/m);
    expect(await window.facts()).toMatchObject(AS_BEFORE);
  });

  it("needs a terminal, and says what to do without one", async () => {
    const { code, stderr } = await at.cli(["supervise"]);
    expect(code).toBe(2);
    expect(stderr).toContain("not a terminal");
    expect(stderr).toContain("cloche approvals list");
    expect((await at.cli(["supervise", "--json"])).json()).toMatchObject({ error: { code: "USAGE" } });
  });
});
