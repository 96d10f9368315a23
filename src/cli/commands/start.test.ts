import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import type { AgentList, PlannedRun, WantedValues } from "../../model/bottle-plan.ts";
import type { RunEnd } from "../../model/run.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { LaunchOptions } from "../../sdk/options.ts";
import { runCli } from "../run-cli.ts";
import { gatherValues } from "../start/gather-values.ts";

const PLANNED: PlannedRun = {
  plan: {
    agent: "demo",
    provider: "command",
    bottle: "dev",
    backend: "container",
    environment: "host",
    env_names: [],
    skills: [],
    git_identity: null,
    git_gate: [],
    egress: [],
    supervise: true,
  },
  preflight: "\n  agent         demo\n  provider      command\n\n",
  notes: ["Something to know."],
  wanted: { variables: [], questions: [] },
};

interface Options {
  readonly tty?: boolean;
  readonly input?: string;
  readonly agents?: readonly string[];
  readonly planned?: PlannedRun;
}

/** Runs the program with a client that plans this. */
async function start(args: string[], { agents = ["demo"], planned = PLANNED, ...options }: Options = {}) {
  const asked: string[] = [];
  const list: AgentList = {
    agents: agents.map((name) => ({
      name,
      bottle: "dev",
      provider: "command",
      source: "home",
      path: null,
      problem: null,
    })),
    bottles: [],
    notes: [],
  };
  const client = {
    planRun: (agent: string) => {
      asked.push(agent);
      return Promise.resolve(planned);
    },
    listAgents: () => Promise.resolve(list),
    close: () => Promise.resolve(),
  } as unknown as Cloche;
  const io = createMemoryIo(options);
  Object.assign(io.stdin, { isTTY: options.tty === true });
  io.stdin.end(options.input ?? "");
  const code = await runCli(["start", ...args], { ...io, connect: () => Promise.resolve(client) });
  return { code, stdout: io.stdout.text, stderr: io.stderr.text, asked };
}

describe("cloche start --dry-run", () => {
  it("shows the preflight on stderr as it is, and nothing on stdout", async () => {
    const { code, stdout, stderr } = await start(["demo", "--dry-run"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`note: Something to know.\n${PLANNED.preflight}`);
  });

  it.each([["--format", "json"], ["--json"]])("prints the plan alone on stdout with %s %s", async (...flags) => {
    const { code, stdout, stderr } = await start(["demo", "--dry-run", ...flags]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(PLANNED.plan);
    expect(stderr).not.toContain("provider");
  });

  it("lets no name steer the terminal", async () => {
    const planned = { ...PLANNED, preflight: "\n  agent         \u001b[2J\u202edemo\n\n" };
    const { stderr } = await start(["demo", "--dry-run"], { planned, tty: true });
    for (const hostile of ["\u001b[2J", "\u202e"]) expect(stderr).not.toContain(hostile);
  });
});

describe("cloche start", () => {
  it.each([
    [["demo", "--format", "json"], "--format is for --dry-run"],
    [["demo", "--headless"], "--headless needs a task"],
    [["demo"], "Cannot ask whether to start it"],
  ])("refuses %j before anything is asked for", async (args, message) => {
    const { code, stderr } = await start(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("asks on a terminal, after the preflight; whatever is no yes starts nothing", async () => {
    for (const input of ["n\n", "", "perhaps\n"]) {
      const { code, stderr } = await start(["demo"], { tty: true, input });
      expect(code).toBe(1);
      expect(stderr.indexOf("provider")).toBeLessThan(stderr.indexOf("Start it? [y/N]"));
      expect(stderr).toContain("Nothing was started");
    }
  });
});

describe("cloche start --headless at a terminal", () => {
  it("gives Ctrl-C to the agent, stays until that has ended, and says what became of it", async () => {
    const sent: string[] = [];
    let end: (end: RunEnd) => void = () => undefined;
    const ended = { identity: "demo-k3x9a", state: "ended", exit_code: 130, kept: true, reason: null } as RunEnd;
    const client = {
      planRun: () => Promise.resolve(PLANNED),
      startRun: (_agent: string, { onProgress }: LaunchOptions) => {
        onProgress?.({ step: "starting demo" });
        return Promise.resolve({ identity: "demo-k3x9a" });
      },
      attachRun: () =>
        Promise.resolve({
          result: new Promise<RunEnd>((resolve) => (end = resolve)),
          async *output() {
            await setImmediate();
            io.send("INT");
            await setImmediate();
            yield { channel: "stdout", data: Buffer.from("tidied up\n") };
          },
          signal(name: string) {
            sent.push(name);
            end(ended);
            return Promise.resolve();
          },
          close: () => Promise.resolve(),
        }),
    } as unknown as Cloche;
    const io = createMemoryIo({ tty: true, client });
    expect(await runCli(["start", "demo", "--headless", "--prompt", "x"], io)).toBe(130);
    expect(sent).toEqual(["INT"]);
    expect(io.stdout.text).toBe("tidied up\n");
    expect(io.stderr.text).not.toContain("cancelled");
    expect(io.stderr.text).toContain("hint: Take it up with `cloche resume demo-k3x9a`");
  });
});

describe("cloche start without an agent", () => {
  it("takes the only one, and one that is picked by number or name", async () => {
    expect((await start(["--dry-run"])).asked).toEqual(["demo"]);
    const several = { agents: ["one", "two"], tty: true };
    expect((await start(["--dry-run"], { ...several, input: "2\n" })).asked).toEqual(["two"]);
    expect((await start(["--dry-run"], { ...several, input: "one\n" })).asked).toEqual(["one"]);
  });

  it.each([
    [{ agents: [] }, "There is no agent yet\nhint: Make a first bottle and a first agent with `cloche init`\n"],
    [{ agents: ["one", "two"] }, "Missing AGENT: one of one, two"],
    [{ agents: ["one", "two"], tty: true, input: "9\n" }, "No agent was chosen"],
  ])("says what to do with %j", async (options, message) => {
    const { code, stderr } = await start(["--dry-run"], options);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("gatherValues()", () => {
  const gather = (wanted: WantedValues, { tty = false, input = "", env = {} } = {}) => {
    const io = createMemoryIo({ tty });
    Object.assign(io.stdin, { isTTY: tty });
    io.stdin.end(input);
    return { io, values: gatherValues({ ...io, env }, wanted) };
  };
  const questions = [
    { name: "FIRST", text: "Password for the demo" },
    { name: "SECOND", text: "And another" },
  ];

  it("takes variables and asks for the rest, without showing what is typed", async () => {
    const { io, values } = gather(
      { variables: ["TOKEN"], questions },
      { tty: true, input: "one two\nthree\n", env: { TOKEN: "t0ken" } },
    );
    expect(await values).toEqual({ variables: { TOKEN: "t0ken" }, answers: { FIRST: "one two", SECOND: "three" } });
    expect(io.stderr.text).toBe("Password for the demo: \nAnd another: \n");
    expect(io.stdout.text).toBe("");
  });

  it("G-62: names the variable that is missing, and no value of another", async () => {
    const { values } = gather({ variables: ["PRESENT", "ABSENT"], questions: [] }, { env: { PRESENT: "s3cret" } });
    await expect(values).rejects.toThrow(/^The variable ABSENT is not set$/);
  });

  it("asks nobody where there is no terminal, and takes the end of the input for no answer", async () => {
    await expect(gather({ variables: [], questions }).values).rejects.toThrow("FIRST is asked for on a terminal");
    await expect(gather({ variables: [], questions }, { tty: true, input: "only one\n" }).values).rejects.toThrow(
      "SECOND",
    );
  });
});
