import { execFileSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { errnoOf } from "../base/errors.ts";
import type { BottlePlan, PlannedUpstream } from "../model/bottle-plan.ts";
import { failure } from "../model/error-codes.ts";
import { FIRST_PROGRAM_PLACE, type GateProgram, type GateRepo, type UpstreamWay } from "../model/git-order.ts";
import { readHostKeys } from "../policy/git/host-key.ts";
import { webPlaceOf } from "../policy/git/web-place.ts";
import { knownHosts, readSshUrl, sshWords } from "../policy/git/ssh-command.ts";
import { readCertificates } from "../workspaces/egress-policy.ts";
import type { RunGit } from "../workspaces/egress.ts";
import { shownHostKeys } from "./shown-host-keys.ts";

/** What a launch needs of the host for one repository. */
interface Way {
  readonly way: UpstreamWay;
  readonly programs: readonly GateProgram[];
  readonly files: Readonly<Record<string, string>>;
}

/** User names that forges take with any token. */
const TOKEN_USER = "x-access-token";

/** What the git door of a run serves, by its plan; null for none. Keys and credentials are judged here, before anything is made. */
export async function runGit(plan: BottlePlan, variables: Readonly<Record<string, string>>): Promise<RunGit | null> {
  const { upstreams, signing_key: signingKey } = plan.git_gate_plan;
  if (upstreams.length === 0 && signingKey === null) return null;
  const repos: GateRepo[] = [];
  const programs: GateProgram[] = [];
  let files: Record<string, string> = {};
  for (const [index, upstream] of upstreams.entries()) {
    const made = await wayTo(upstream, index, variables);
    programs.push(...made.programs);
    files = { ...files, ...made.files };
    repos.push(servedRepo(upstream, made.way));
  }
  const signing = signingKey === null ? null : { place: FIRST_PROGRAM_PLACE + 2 * upstreams.length };
  if (signing && signingKey !== null) programs.push(signingProgram(signing.place, signingKey, plan));
  return { order: { identity: plan.git_identity, repos, signing }, programs, files };
}

/** SECURITY: the key is read by ssh-keygen alone, for each commit anew (G-83) */
function signingProgram(place: number, given: string, { git_identity: identity }: BottlePlan): GateProgram {
  if (identity?.email == null)
    throw invalid("git.signing", "it needs `git.user` with an email", "Say who commits are by in `git.user`");
  const key = requireKey("git.signing", given);
  return {
    place,
    argv: [programNamed("git.signing", "ssh-keygen"), "-q", "-Y", "sign", "-n", "git", "-f", key],
    env: environment({}),
  };
}

/** The public part of the key that the host signs with, as git takes it. */
export function signingPublicKey(given: string): string {
  const key = requireKey("git.signing", given);
  try {
    const words = ["-y", "-P", "", "-f", key];
    return execFileSync("ssh-keygen", words, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    }).trim();
  } catch {
    throw invalid(
      "git.signing",
      `"${given}" is no private key without a passphrase`,
      "Make one for the agent with `ssh-keygen -t ed25519`",
    );
  }
}

function servedRepo(
  { name, upstream_host: host, upstream_port: port, repo, on_violation }: PlannedUpstream,
  way: UpstreamWay,
): GateRepo {
  return {
    name,
    shown: port === null ? "file" : `${host}:${port}`,
    web: webPlaceOf(repo.url),
    way,
    rules: repo.rules ?? {},
    allowed_findings: repo.allow_findings ?? [],
    allow_stale: repo.allow_stale ?? false,
    on_violation,
  };
}

async function wayTo(
  upstream: PlannedUpstream,
  index: number,
  variables: Readonly<Record<string, string>>,
): Promise<Way> {
  const { url } = upstream.repo;
  if (/^https?:\/\//i.test(url)) return { way: overHttp(upstream, variables), programs: [], files: {} };
  const places = { fetch: FIRST_PROGRAM_PLACE + 2 * index, push: FIRST_PROGRAM_PLACE + 2 * index + 1 };
  if (/^file:\/\//i.test(url)) return overFile(upstream, places);
  return await overSsh(upstream, index, places);
}

function overHttp({ name, repo }: PlannedUpstream, variables: Readonly<Record<string, string>>): UpstreamWay {
  const url = new URL(repo.url);
  const user = url.username === "" ? TOKEN_USER : decodeURIComponent(url.username);
  if (url.password !== "")
    throw invalid(name, "its url has a password in it", "Name the variable that has it in `auth.token_ref`");
  url.username = "";
  const variable = repo.auth?.token_ref;
  const ca =
    repo.ca === undefined
      ? null
      : readCertificates(repo.ca, (why) =>
          invalid(name, `its \`ca\` cannot be used: ${why}`, "Name a PEM file that you can read"),
        );
  return {
    kind: "http",
    url: url.href,
    authorization:
      variable === undefined
        ? null
        : `Basic ${Buffer.from(`${user}:${tokenOf(name, variable, variables)}`).toString("base64")}`,
    token_name: variable ?? null,
    ca,
  };
}

function tokenOf(name: string, variable: string, variables: Readonly<Record<string, string>>): string {
  const token = Object.hasOwn(variables, variable) ? variables[variable]?.trim() : undefined;
  // SECURITY: the name of the variable, and nothing of its value (G-55)
  if (token === undefined || token === "" || /[^\x21-\x7e]/.test(token))
    throw failure(
      "TOKEN_UNAVAILABLE",
      `The variable ${variable} has no token, and repository "${name}" takes its token from it`,
      {
        hint: `Set ${variable} where you run cloche, and try again`,
      },
    );
  return token;
}

type Places = { readonly fetch: number; readonly push: number };

/** As the user who runs cloche, whose folder it is. */
function overFile({ name, repo }: PlannedUpstream, places: Places): Way {
  const git = programNamed(name, "git");
  const path = fileURLToPath(new URL(repo.url));
  const run = (service: string): readonly string[] => [
    git,
    "-c",
    "safe.directory=*",
    "-c",
    "core.fsmonitor=false",
    service,
    path,
  ];
  return {
    way: { kind: "program", fetch_place: places.fetch, push_place: places.push, fingerprint: null },
    programs: [
      { place: places.fetch, argv: run("upload-pack"), env: environment({ GIT_PROTOCOL: "version=2" }) },
      { place: places.push, argv: run("receive-pack"), env: environment({}) },
    ],
    files: {},
  };
}

async function overSsh({ name, repo }: PlannedUpstream, index: number, places: Places): Promise<Way> {
  const place = readSshUrl(repo.url);
  if (!place)
    throw invalid(name, `its url "${repo.url}" names no host and path`, "Write it as ssh://git@host:22/path.git");
  const ssh = programNamed(name, "ssh");
  if (!repo.key)
    throw invalid(
      name,
      "it is reached over ssh, and has no `key`",
      "Add `key: {provider: static, path: ~/.ssh/deploy_key}`",
    );
  const key = requireKey(name, repo.key.path);
  const keys = repo.host_key === undefined ? undefined : readHostKeys(repo.host_key);
  if (repo.host_key !== undefined && !keys)
    throw invalid(
      name,
      "its `host_key` is no public key of a host",
      "Write it as `ssh-ed25519 AAAA…`, as in known_hosts or a .pub file",
    );
  // SECURITY: no trust on first use: without a pin nothing is sent to a host that may be anybody (G-91)
  if (!keys)
    throw invalid(
      name,
      `it has no \`host_key\`, and a host is not trusted unseen${await shownHostKeys(place)}`,
      "Compare the fingerprint with what the host's owner publishes, then add the key as `host_key`",
    );
  const file = `known-hosts-${index}`;
  const words = (service: "upload-pack" | "receive-pack") =>
    sshWords(ssh, place, service, { key, knownHosts: `{files}${file}` });
  return {
    way: {
      kind: "program",
      fetch_place: places.fetch,
      push_place: places.push,
      fingerprint: keys.map(({ fingerprint }) => fingerprint).join(", "),
    },
    programs: [
      { place: places.fetch, argv: words("upload-pack"), env: environment({ GIT_PROTOCOL: "version=2" }) },
      { place: places.push, argv: words("receive-pack"), env: environment({}) },
    ],
    files: { [file]: knownHosts(keys) },
  };
}

/** A key that others can read is no secret, and ssh does not take it. */
function requireKey(name: string, given: string): string {
  const path = atHome(given);
  if (!isAbsolute(path))
    throw invalid(
      name,
      `the path of its key "${given}" is not absolute`,
      "Write the whole path, or one that begins with ~/",
    );
  try {
    const { mode } = statSync(path);
    accessSync(path, constants.R_OK);
    if ((mode & 0o170_000) !== 0o100_000)
      throw invalid(name, `its key "${given}" is no file`, "Name the file with the private key");
    if ((mode & 0o077) === 0) return path;
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "EACCES" && code !== "ENOTDIR") throw error;
    throw invalid(
      name,
      `its key "${given}" ${code === "EACCES" ? "cannot be read" : "is not there"}`,
      "Name the file with the private key, or make one with `ssh-keygen -t ed25519`",
    );
  }
  throw invalid(name, `its key "${given}" can be read by others`, `Close it with \`chmod 600 ${given}\``);
}

const atHome = (path: string): string => (path.startsWith("~/") ? join(homedir(), path.slice(2)) : path);

function programNamed(repo: string, name: string): string {
  for (const folder of (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter)) {
    const path = join(folder, name);
    try {
      if (isAbsolute(path) && statSync(path).isFile()) {
        accessSync(path, constants.X_OK);
        return path;
      }
    } catch {
      // not there
    }
  }
  throw invalid(
    repo,
    `it needs the program ${name}, which is not installed on this host`,
    `Install ${name === "ssh" ? "openssh-client" : name}`,
  );
}

const environment = (more: Readonly<Record<string, string>>): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: homedir(),
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  ...more,
});

const invalid = (name: string, why: string, hint: string): Error =>
  failure("MANIFEST_INVALID", `${name === "git.signing" ? name : `Repository "${name}"`} cannot be served: ${why}`, {
    hint,
  });
