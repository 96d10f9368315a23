import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually, runProcess } from "./installation.ts";

/** How a terminal is left. */
export interface TerminalFacts {
  readonly cursorIsShown: boolean;
  readonly isOnOtherScreen: boolean;
  readonly wrapsLines: boolean;
  readonly title: string;
}

/** A real tmux of its own, whose windows are 80 by 24. */
export class Tmux implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "cl-tmux-"));
  readonly #env: NodeJS.ProcessEnv;
  #count = 0;

  constructor(env: NodeJS.ProcessEnv) {
    // Those of a terminal that the tests were started from are not its own.
    this.#env = { ...env, TMUX: undefined, TMUX_PANE: undefined, LANG: "C.UTF-8", TERM: "xterm-256color" };
  }

  /** A shell in a window of its own, which is given the line to run. */
  async open(line: string, size: { cols: number; rows: number } = { cols: 80, rows: 24 }): Promise<TmuxWindow> {
    const name = `w${++this.#count}`;
    const shell = "env PS1='$ ' PROMPT_COMMAND= bash --norc --noprofile";
    await this.call(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-s",
      name,
      "-x",
      `${size.cols}`,
      "-y",
      `${size.rows}`,
      shell,
    );
    const window = new TmuxWindow(this, name);
    await window.until("$");
    await window.type(line);
    return window;
  }

  async call(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runProcess("tmux", ["-S", join(this.#folder, "s"), "-u", ...args], {
      env: this.#env,
    });
    if (code !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.call("kill-server").catch(() => undefined);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class TmuxWindow {
  readonly #tmux: Tmux;
  readonly #name: string;

  constructor(tmux: Tmux, name: string) {
    this.#tmux = tmux;
    this.#name = name;
  }

  /** Keys by tmux's names, one after the other: each is read by itself. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#tmux.call("send-keys", "-t", this.#name, key);
  }

  /** A line, and Enter after it. */
  async type(text: string): Promise<void> {
    await this.#tmux.call("send-keys", "-t", this.#name, "-l", text);
    // Not with the text: what comes at once is a paste. A long line is on several of the screen.
    const end = text.slice(-12);
    await eventually(async () => expect((await this.screen()).replaceAll("\n", "")).toContain(end));
    await this.press("Enter");
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#tmux.call("resize-window", "-t", this.#name, "-x", `${cols}`, "-y", `${rows}`);
  }

  async screen(): Promise<string> {
    return await this.#tmux.call("capture-pane", "-p", "-t", this.#name);
  }

  /** Waits until that is on the screen, and gives the screen. */
  async until(text: string | RegExp): Promise<string> {
    let screen = "";
    await eventually(async () => {
      screen = await this.screen();
      if (typeof text === "string") expect(screen).toContain(text);
      else expect(screen).toMatch(text);
    });
    return screen;
  }

  async facts(): Promise<TerminalFacts> {
    const format = "#{cursor_flag} #{alternate_on} #{wrap_flag} #{pane_title}";
    const told = await this.#tmux.call("display-message", "-p", "-t", this.#name, format);
    const [cursor, other, wraps, ...title] = told.trim().split(" ");
    return {
      cursorIsShown: cursor === "1",
      isOnOtherScreen: other === "1",
      wrapsLines: wraps === "1",
      title: title.join(" "),
    };
  }
}
