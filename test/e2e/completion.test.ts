import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { runProcess } from "../helpers/installation.ts";
import { installProgram } from "../helpers/installed-program.ts";
import { useSandbox } from "../helpers/sandbox.ts";

const TAB = "\t";
const [HOME_KEY, END_KEY] = ["\u0001", "\u0005"];
const PROMPT = "ready> ";
/** Shells without the user's own settings, and what sets our completion up as its help says. */
const SHELLS = {
  bash: { start: "bash --norc --noprofile -i", prompt: `PS1='${PROMPT}'`, load: 'eval "$(cloche completion bash)"' },
  zsh: { start: "zsh -f -i", prompt: `bindkey -e; PS1='${PROMPT}'`, load: 'eval "$(cloche completion zsh)"' },
  fish: {
    start: "fish --no-config -i",
    prompt: `function fish_prompt; echo -n '${PROMPT}'; end`,
    load: "cloche completion fish | source",
  },
} as const;

/** A shell in a terminal of its own, at which the test types. */
class ShellTerminal {
  readonly #process: ChildProcessWithoutNullStreams;
  #shown = "";
  #wake: () => void = () => undefined;
  #asked = 0;

  constructor(command: string, options: { env: NodeJS.ProcessEnv; cwd: string }) {
    this.#process = spawn("script", ["-qefc", `stty rows 40 cols 200; exec ${command}`, "/dev/null"], options);
    this.#process.stdout.on("data", (chunk: Buffer) => {
      this.#shown += chunk.toString();
      this.#wake();
    });
  }

  /** Resolves to the match once the terminal has shown it after that place. */
  async #shows(pattern: RegExp, from: number): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#shown.slice(from));
      if (match) return match;
      await new Promise<void>((done) => (this.#wake = done));
    }
  }

  /** Types, and resolves to the match once the shell has shown it. */
  async #answer(keys: string, pattern: RegExp): Promise<RegExpExecArray> {
    const from = this.#shown.length;
    this.#process.stdin.write(keys);
    return await this.#shows(pattern, from);
  }

  /** Runs a line to its end. The shell reads keys once its prompt is there; what comes before may be lost. */
  async run(line: string): Promise<void> {
    const mark = (this.#asked += 1);
    await this.#answer(`${line}; printf '<%s>' ${mark}\r`, new RegExp(`<${mark}>[^]*${PROMPT}`));
  }

  /** What the line has become after its last key, as the words that the shell would pass to a program. */
  async words(keys: string): Promise<string[]> {
    const mark = (this.#asked += 1);
    const answer = String.raw`\[${mark}\]((?:\[[^\]]*\])+)[^]*${PROMPT}`;
    const match = await this.#answer(`${keys}${HOME_KEY}printf '[%s]' ${mark} ${END_KEY}\r`, new RegExp(answer));
    return [...(match[1] ?? "").matchAll(/\[([^\]]*)\]/g)].map((found) => found[1] ?? "");
  }

  /** Resolves when the terminal shows the pattern after the keys. */
  async lists(keys: string, pattern: RegExp): Promise<void> {
    await this.#answer(keys, pattern);
  }

  close(): void {
    this.#process.kill("SIGKILL");
  }
}

const box = useSandbox("comp");
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  mkdirSync(box.at.path("some-folder"));
  env = { ...installProgram(box.at), HOME: box.at.root, TERM: "xterm" };
});

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (name) => {
  let shell: ShellTerminal;
  afterEach(() => shell.close());

  async function open(): Promise<ShellTerminal> {
    const { start, prompt, load } = SHELLS[name];
    shell = new ShellTerminal(start, { env, cwd: box.at.root });
    await shell.run(prompt);
    await shell.run(load);
    return shell;
  }

  it("finishes commands, options, their values, environments, ids and paths", async () => {
    const terminal = await open();
    for (const [typed, line] of [
      [`work${TAB}fi${TAB}wr${TAB}`, "workspace file write"],
      [`ws create --seed-p${TAB}some-${TAB}`, "ws create --seed-path some-folder"],
      [`ws create --seed-path=some-${TAB}`, "ws create --seed-path=some-folder"],
      [`ws create --network-policy=o${TAB}`, "ws create --network-policy=off"],
      [`env inspect debian:12-${TAB}`, "env inspect debian:12-build"],
      [`workspace status ws-${TAB}`, `workspace status ${box.id}`],
    ] as const) {
      const words = await terminal.words(`cloche ${typed}`);
      expect(words.join(" ").replace(/\/$/, "")).toBe(`cloche ${line}`); // one of the shells keeps a folder's slash
    }
  });

  it("lists what there is to choose from", async () => {
    await (await open()).lists(`cloche workspace file ${TAB}${TAB}`, /list[^]*read[^]*write/);
  });
});

it("a completion file in zsh's own folder works at its first use", async () => {
  const folder = box.at.path("site-functions");
  mkdirSync(folder);
  const { stdout } = await runProcess("cloche", ["completion", "zsh"], { env });
  writeFileSync(join(folder, "_cloche"), stdout);
  const shell = new ShellTerminal(SHELLS.zsh.start, { env, cwd: box.at.root });
  try {
    await shell.run(SHELLS.zsh.prompt);
    await shell.run(`fpath+=(${folder}); autoload -Uz compinit; compinit -u -D`);
    expect(await shell.words(`cloche work${TAB}`)).toEqual(["cloche", "workspace"]);
  } finally {
    shell.close();
  }
});
