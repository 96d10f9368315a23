import type { Cloche } from "../../sdk/cloche.ts";
import { BUILT_IN_BACKENDS } from "../../model/vocabulary.ts";
import type { CommandEntry, CommandGroup, CommandShape, CommandTree } from "../command.ts";
import { childrenOf, findCommand, shortsBelow } from "../command-tree.ts";
import { escapeName } from "../output/escape.ts";
import { GLOBAL_OPTIONS, type Completes, type OptionSpec, type OptionSpecs } from "../arguments/option-spec.ts";
import { continues, fullName } from "../resolve-command.ts";

export interface Candidate {
  readonly text: string;
  readonly description: string;
}

/** The shell completes file names better than we could. */
export const FILES = "files";

type Connect = () => Promise<Cloche>;
type Found = readonly Candidate[] | typeof FILES;

/** What the last of the words could become. Never starts a daemon, never fails: no answer is better than noise in a prompt. */
export async function findCandidates(tree: CommandTree, words: readonly string[], connect: Connect): Promise<Found> {
  const current = words.at(-1) ?? "";
  const candidates = await allCandidates(tree, words.slice(0, -1), current, connect).catch((): Found => []);
  return candidates === FILES ? FILES : candidates.filter(({ text }) => text.startsWith(current));
}

async function allCandidates(
  tree: CommandTree,
  before: readonly string[],
  current: string,
  connect: Connect,
): Promise<Found> {
  if (before.includes("--")) return FILES;
  const path: string[] = [];
  for (const [index, word] of before.entries()) {
    if (word.startsWith("-")) continue;
    path.push(path.length === 0 ? fullName(tree, word) : word);
    if (continues(tree, path, before[index + 1])) continue;
    const command = await findCommand(tree, path)?.load();
    if (!command) continue;
    const args = before.slice(index + 1);
    const joined = /^(--[^=]+)=/.exec(current);
    if (joined?.[1] !== undefined) return await forJoinedValue(command, joined[1], connect, args);
    const own = forOption(command, args, current);
    if (own?.spec) return await valuesOf(own.spec, connect, positionalWords(command, args));
    return own?.flags ?? (await forPositional(tree, command, args, connect));
  }
  return current.startsWith("-") ? flagsOf(GLOBAL_OPTIONS) : namesBelow(tree, path);
}

/** The option whose value comes next, or the flags when one is being typed. */
function forOption(
  command: CommandShape,
  args: readonly string[],
  current: string,
): { spec?: OptionSpec; flags?: Candidate[] } | undefined {
  const specs: OptionSpecs = { ...command.options, ...GLOBAL_OPTIONS };
  const pending = optionOf(specs, args.at(-1));
  if (pending?.type === "string") return { spec: pending };
  return current.startsWith("-")
    ? { flags: [...flagsOf(specs), ...(command.takesCommand ? [DASHES] : [])] }
    : undefined;
}

/** `--flag=value`, typed as one word: the candidates are whole words too. */
async function forJoinedValue(
  command: CommandShape,
  flag: string,
  connect: Connect,
  args: readonly string[],
): Promise<Found> {
  const spec = optionOf(command.options, flag);
  if (spec?.type !== "string") return [];
  const values = await valuesOf(spec, connect, positionalWords(command, args));
  return values === FILES ? FILES : values.map((value) => ({ ...value, text: `${flag}=${value.text}` }));
}

async function forPositional(
  tree: CommandTree,
  command: CommandShape,
  args: readonly string[],
  connect: Connect,
): Promise<Found> {
  const words = positionalWords(command, args);
  const last = command.positionals.at(-1);
  const spec = command.positionals[words.length] ?? (last?.multiple ? last : undefined);
  if (spec?.completes === "command-words") return namesBelow(tree, words);
  const below = words.length === 0 ? childrenOf(tree, command.words) : [];
  const found = spec ? await valuesOf(spec, connect, words) : [];
  const own = found === FILES ? found : [...found, ...below.map(toCandidate)];
  if (own === FILES || !command.takesCommand || (spec && !spec.optional)) return own;
  return [...own, DASHES];
}

const positionalWords = (command: CommandShape, args: readonly string[]): string[] =>
  args.filter((arg, index) => !arg.startsWith("-") && optionOf(command.options, args[index - 1])?.type !== "string");

const DASHES: Candidate = { text: "--", description: "then the command" };

const toCandidate = ({ words, summary }: CommandEntry | CommandGroup): Candidate => ({
  text: words.at(-1) ?? "",
  description: summary,
});

const namesBelow = (tree: CommandTree, words: readonly string[]): Candidate[] => [
  ...childrenOf(tree, words).map(toCandidate),
  ...shortsBelow(tree, words).map(({ word, entry }) => ({ text: word, description: entry.summary })),
];

function optionOf(specs: OptionSpecs, word: string | undefined): OptionSpec | undefined {
  return Object.entries(specs).find(
    ([name, { short }]) => word === `--${name}` || (short !== undefined && word === `-${short}`),
  )?.[1];
}

const flagsOf = (specs: OptionSpecs): Candidate[] =>
  Object.entries(specs).map(([name, { description }]) => ({ text: `--${name}`, description }));

async function valuesOf(
  spec: { choices?: readonly string[]; completes?: Completes },
  connect: Connect,
  words: readonly string[],
): Promise<Found> {
  if (spec.choices) return spec.choices.map((text) => ({ text, description: "" }));
  if (spec.completes === "host-path") return FILES;
  // To ask for others would have every one of them tried.
  if (spec.completes === "backend") return BUILT_IN_BACKENDS.map((text) => ({ text, description: "" }));
  return spec.completes === undefined ? [] : await askDaemon(spec.completes, await connect(), words[0]);
}

/** `workspace` is the id typed before, for what belongs to one. */
async function askDaemon(what: Completes, client: Cloche, workspace: string | undefined): Promise<Candidate[]> {
  if (!(await client.daemonStatus()).running) return [];
  if (what === "workspace") {
    const { workspaces } = await client.listWorkspaces();
    const names = workspaces.flatMap(({ name, workspace_id: id }) => (name === null ? [] : [{ name, id }]));
    // One that several have would be refused.
    const own = names.filter(({ name }) => names.filter((one) => one.name === name).length === 1);
    return [
      ...workspaces.map(({ workspace_id, name, environment }) => ({
        text: workspace_id,
        description: escapeName(name ?? environment),
      })),
      ...own.map(({ name, id }) => ({ text: name, description: id })),
    ];
  }
  if (what === "run") {
    const { runs } = await client.listRuns({ all: true });
    return runs.map(({ identity, state }) => ({ text: identity, description: state }));
  }
  if (what === "shell" && workspace !== undefined) {
    const { shells } = await client.listShells(workspace);
    return shells.map(({ shell_id, state }) => ({ text: shell_id, description: state }));
  }
  if (what === "service" && workspace !== undefined) {
    const { services } = await client.listServices(workspace);
    return services.map(({ service_name, state }) => ({ text: service_name, description: state }));
  }
  if (what === "snapshot" && workspace !== undefined) {
    const { snapshots } = await client.listSnapshots(workspace);
    return snapshots.map(({ snapshot_name, kind }) => ({ text: snapshot_name, description: kind }));
  }
  if (what === "agent" || what === "bottle" || what === "definition") {
    const { agents, bottles } = await client.listAgents();
    return [
      ...(what === "bottle"
        ? []
        : agents.map(({ name, bottle }) => ({ text: name, description: `in ${bottle ?? "no bottle"}` }))),
      ...(what === "agent" ? [] : bottles.map(({ name }) => ({ text: name, description: "bottle" }))),
    ];
  }
  if (what === "proposal") {
    const { proposals } = await client.listApprovals();
    return proposals.map(({ proposal_id, kind, identity }) => ({
      text: proposal_id,
      description: escapeName(`${kind} of ${identity}`),
    }));
  }
  if (what === "rule") {
    const { rules } = await client.listApprovalRules();
    return rules.map(({ rule_id, adds }) => ({ text: rule_id, description: escapeName(adds.slice(0, 80)) }));
  }
  if (what === "environment") {
    const { environments } = await client.listEnvironments();
    return environments.map(({ name, description }) => ({ text: name, description: escapeName(description) }));
  }
  return [];
}
