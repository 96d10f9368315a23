import { isClocheError } from "../../base/errors.ts";
import type { Diff } from "../../model/files.ts";
import type { EventOf } from "../../model/event.ts";
import type { RunEnd } from "../../model/run.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { Manifest } from "../../sdk/manifest.ts";
import { AGENT_NAME, KEY, TASK, TOKEN } from "./bottle.ts";
import type { DemoOutside } from "./outside.ts";
import type { DemoRepository } from "./repository.ts";
import type { DemoSample } from "./sample.ts";

/** What the steps share and fill in as they go. */
export interface DemoState {
  readonly client: Cloche;
  readonly sample: DemoSample;
  readonly manifest: Manifest;
  readonly backend: string | undefined;
  /** Whether the agent is the scripted one, whose every move is known. */
  readonly isScripted: boolean;
  readonly outside: DemoOutside;
  /** Undefined where the host has no git, and with a real agent. */
  readonly repository: DemoRepository | undefined;
  /** By variable. */
  readonly values: Readonly<Record<string, string>>;
  /** A line for people, as soon as it is there. */
  readonly tell: (line: string) => void;
  identity: string;
  output: string;
}

export interface DemoOutcome {
  /** Whether it went as promised. */
  readonly ok: boolean;
}

export interface DemoStep {
  readonly name: string;
  readonly title: string;
  /** Only of the scripted agent is known what it tries. */
  readonly isScripted?: true;
  run(state: DemoState): Promise<DemoOutcome>;
}

/** What the agent says where it cannot push. */
const NO_GIT = "There is no git here";

const planned = ({ manifest, sample, backend, isScripted }: DemoState) => ({
  manifest,
  backend,
  project_path: sample.path,
  copy_cwd: true,
  headless: true,
  prompt: isScripted ? "Repair the failing test" : TASK,
});

export const DEMO_STEPS: readonly DemoStep[] = [
  {
    name: "bottle",
    title: "A bottle says what an agent gets and what may leave",
    async run(state) {
      const { preflight } = await state.client.planRun(AGENT_NAME, planned(state));
      for (const line of preflight.split("\n")) if (line !== "") state.tell(line.replace(/^ {2}/, ""));
      return { ok: preflight.includes("egress") };
    },
  },
  {
    name: "agent",
    title: "The agent repairs a failing test in its copy of the project",
    async run(state) {
      const { exit_code: code, has_changes: hasChanges } = await work(state);
      const passes = /^FAIL/m.test(state.output) && state.output.lastIndexOf("FAIL") < state.output.lastIndexOf("ok ");
      return { ok: code === 0 && hasChanges && (passes || !state.isScripted) };
    },
  },
  {
    name: "token",
    title: "The API was given the token, and the agent never had it",
    isScripted: true,
    run({ outside, values, output, tell }) {
      const token = values[TOKEN] ?? "";
      const asked = outside.seen.find(({ host }) => host.startsWith("api."));
      tell(`the agent's own   ${/token is (\S+)\.\.\./.exec(output)?.[1] ?? "?"}... (a stand-in)`);
      tell(
        `what the API saw  ${asked?.authorization?.replace(token, `${token.slice(0, 14)}... (the real one)`) ?? "nothing"}`,
      );
      const ok = asked?.authorization === `Bearer ${token}` && !output.includes(token);
      return Promise.resolve({ ok });
    },
  },
  {
    name: "leaks",
    title: "All three ways out were closed, and told",
    isScripted: true,
    async run({ client, identity, outside, values, output, tell }) {
      const denied = await denials(client, identity);
      const code = (host: string) => denied.find((event) => event.host === host)?.code;
      tell(`unlisted host    ${code("evil.example.test") ?? "got out"}`);
      tell(`name of a host   ${output.includes("nobody answers") ? "NOT_RESOLVED" : "got out"}`);
      tell(`key in a body    ${code("docs.example.test") ?? "got out"}`);
      const key = values[KEY] ?? "";
      const isIn = outside.seen.every(({ host, body }) => !body.includes(key) && !host.startsWith("evil"));
      const isNamed = output.includes("nobody answers");
      const isTold = code("evil.example.test") === "EGRESS_DENIED" && code("docs.example.test") === "DLP_BLOCKED";
      return { ok: isIn && isNamed && isTold };
    },
  },
  {
    name: "push",
    title: "Its commit reached the repository; the one with the key in it did not",
    isScripted: true,
    async run({ client, identity, repository, values, output, tell }) {
      if (!repository || output.includes(NO_GIT)) {
        tell(`left out: there is no git ${repository ? "in this environment" : "on this host"}`);
        return { ok: true };
      }
      const branches = await repository.branches();
      for (const [name, subject] of Object.entries(branches)) tell(`${name.padEnd(16)} ${subject}`);
      const told = await pushes(client, identity);
      for (const [kind, refs] of told) tell(`${kind.padEnd(16)} ${refs}`);
      const isThere = Object.keys(branches).join() === "agent/repair,main";
      const isTold = told.map(([kind]) => kind).join() === "push.accepted,push.rejected";
      return { ok: isThere && isTold && !(await repository.holds(values[KEY] ?? "")) };
    },
  },
  {
    name: "diff",
    title: "What changed waits for you; the project on the host is untouched",
    async run({ client, sample, identity, isScripted, tell }) {
      const diff = await client.diffWorkspace(identity);
      for (const line of changedLines(diff)) tell(line);
      tell(`bring such changes home with: cloche apply ${identity}`);
      const isOne = diff.summary.total === 1 && diff.summary.modified === 1;
      return { ok: (await sample.unchanged()) && (isOne || !isScripted) };
    },
  },
  {
    name: "delete",
    title: "Nothing is left",
    async run(state) {
      const { client, identity } = state;
      await client.deleteWorkspace(identity);
      const gone = await client.statusWorkspace(identity).then(
        () => false,
        (error: unknown) => isClocheError(error) && error.code === "WORKSPACE_NOT_FOUND",
      );
      if (gone) state.identity = "";
      return { ok: gone };
    },
  },
];

/** Starts the agent and stays with it to its end. */
async function work(state: DemoState): Promise<RunEnd> {
  const { client, values } = state;
  const { wanted } = await client.planRun(AGENT_NAME, planned(state));
  const variables = Object.fromEntries(wanted.variables.map((name) => [name, values[name] ?? ""]));
  const { identity } = await client.startRun(AGENT_NAME, { ...planned(state), variables });
  state.identity = identity;
  await using stream = await client.attachRun(identity);
  const unreached = state.isScripted ? undefined : stopUnreached(state, stream.result);
  let rest = "";
  for await (const { data } of stream.output()) {
    state.output += data.toString("utf8");
    const lines = (rest + data.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") state.tell(line);
  }
  if (rest !== "") state.tell(rest);
  await unreached;
  return await stream.result;
}

/** A real agent whose model does not answer tries again for minutes, without a word. */
const MAX_FAILURES = 3;

async function stopUnreached({ client, identity, tell }: DemoState, ended: Promise<unknown>): Promise<void> {
  const watching = new AbortController();
  void ended.catch(() => undefined).finally(() => watching.abort());
  let failures = 0;
  try {
    for await (const event of client.watch({ identity, since: 0, kinds: ["egress.denied"], signal: watching.signal })) {
      if (event.kind !== "egress.denied" || event.code !== "UPSTREAM_FAILED" || ++failures < MAX_FAILURES) continue;
      tell(`${event.host} cannot be reached from this host (UPSTREAM_FAILED): the agent is stopped`);
      await client.stopRun(identity);
      return;
    }
  } catch (error) {
    if (!watching.signal.aborted) throw error;
  }
}

async function denials(client: Cloche, identity: string): Promise<EventOf<"egress.denied">[]> {
  const found: EventOf<"egress.denied">[] = [];
  for await (const event of client.watch({ identity, since: 0, kinds: ["egress.denied"], follow: false }))
    if (event.kind === "egress.denied") found.push(event);
  return found;
}

async function pushes(client: Cloche, identity: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  const kinds = ["push.accepted", "push.rejected"] as const;
  for await (const event of client.watch({ identity, since: 0, kinds: [...kinds], follow: false }))
    if (event.kind === "push.accepted" || event.kind === "push.rejected")
      found.push([event.kind, event.refs.join(" ")]);
  return found;
}

const changedLines = ({ patch }: Diff): string[] => patch.split("\n").filter((line) => /^[+-](?![+-]{2})/.test(line));
