import type { Bottle } from "../../model/bottle.ts";
import type { Egress } from "../../model/egress.ts";
import { failure } from "../../model/error-codes.ts";
import type { GitPolicy, GitRepo } from "../../model/git-policy.ts";

/** What is left when nothing is extended any more. */
export type WholeBottle = Omit<Bottle, "extends">;

export interface MergedBottle {
  readonly bottle: WholeBottle;
  /** Those that were merged, parents first. */
  readonly names: readonly string[];
  /** The bottle that each field comes from: `env.LOG_LEVEL`, `egress.routes.example.com`, `git.repos.app.url`. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Gives a bottle by its name; `child` is the one that extends it, undefined where it was asked for by itself. Throws when there is none. */
export type FindBottle = (name: string, child: string | undefined) => Bottle;

/** Several are merged as several parents are: the later wins. */
export function mergeBottles(names: readonly string[], find: FindBottle): MergedBottle {
  const bottles = inOrder(names, find);
  const sources: Record<string, string> = {};
  let whole: WholeBottle = {};
  for (const [name, written] of bottles) {
    const own = withoutParents(written);
    whole = mergeTwo(whole, own);
    for (const field of fieldsOf(own)) sources[field] = name;
  }
  return { bottle: whole, names: [...bottles.keys()], sources };
}

function withoutParents(bottle: Bottle): WholeBottle {
  const own = { ...bottle };
  delete own.extends;
  return own;
}

/** Every bottle once, behind all that it extends. */
function inOrder(names: readonly string[], find: FindBottle): Map<string, Bottle> {
  const found = new Map<string, Bottle>();
  const path: string[] = [];
  const visit = (name: string): void => {
    if (found.has(name)) return;
    const child = path.at(-1);
    if (path.includes(name)) throw goesInCircles([...path.slice(path.indexOf(name)), name]);
    const bottle = find(name, child);
    path.push(name);
    for (const parent of [bottle.extends ?? []].flat()) visit(parent);
    path.pop();
    found.set(name, bottle);
  };
  for (const name of names) visit(name);
  return found;
}

function goesInCircles(circle: readonly string[]): Error {
  const message =
    circle.length === 2
      ? `Bottle "${circle[0] ?? ""}" extends itself`
      : `Bottles extend each other in a circle: ${circle.join(" → ")}`;
  return failure("MANIFEST_INVALID", message, { hint: "Take one of them out of `extends`", details: { circle } });
}

function mergeTwo(below: WholeBottle, over: WholeBottle): WholeBottle {
  return {
    ...below,
    ...over,
    ...both(below.env, over.env, (one, other) => ({ env: { ...one, ...other } })),
    ...both(below.egress, over.egress, (one, other) => ({ egress: mergeEgress(one, other) })),
    ...both(below.git, over.git, (one, other) => ({ git: mergeGit(one, other) })),
    ...both(below.limits, over.limits, (one, other) => ({ limits: { ...one, ...other } })),
  };
}

function both<Value, Result>(
  one: Value | undefined,
  other: Value | undefined,
  merge: (one: Value, other: Value) => Result,
): Result | undefined {
  return one !== undefined && other !== undefined ? merge(one, other) : undefined;
}

/** A route takes the place of the one for the same host, where that stood: the first that covers a host decides. */
function mergeEgress(below: Egress, over: Egress): Egress {
  const routes = new Map([...(below.routes ?? []), ...(over.routes ?? [])].map((route) => [route.host, route]));
  return { ...below, ...over, ...((below.routes ?? over.routes) && { routes: [...routes.values()] }) };
}

function mergeGit(below: GitPolicy, over: GitPolicy): GitPolicy {
  return {
    ...((below.user ?? over.user) && { user: { ...below.user, ...over.user } }),
    ...((over.signing ?? below.signing) && { signing: over.signing ?? below.signing }),
    ...((below.repos ?? over.repos) && { repos: mergeRepos(below.repos ?? {}, over.repos ?? {}) }),
  };
}

function mergeRepos(
  below: Readonly<Record<string, GitRepo>>,
  over: Readonly<Record<string, GitRepo>>,
): Record<string, GitRepo> {
  const names = [...new Set([...Object.keys(below), ...Object.keys(over)])];
  return Object.fromEntries(names.map((name) => [name, { ...below[name], ...over[name] }]));
}

/** The names of what a bottle says, as far down as it is merged. */
function fieldsOf({ env, egress, git, limits, ...rest }: WholeBottle): string[] {
  const below = (prefix: string, object: object | undefined) =>
    Object.keys(object ?? {}).map((key) => `${prefix}.${key}`);
  return [
    ...Object.keys(rest),
    ...below("env", env),
    ...below("limits", limits),
    ...(egress?.log === undefined ? [] : ["egress.log"]),
    ...(egress?.routes ?? []).map(({ host }) => `egress.routes.${host}`),
    ...below("git.user", git?.user),
    ...(git?.signing === undefined ? [] : ["git.signing"]),
    ...Object.entries(git?.repos ?? {}).flatMap(([name, repo]) => below(`git.repos.${name}`, repo)),
  ];
}
