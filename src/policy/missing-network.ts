import type { ExecResult } from "../model/exec.ts";

/** What tools say when a name does not resolve or nothing leads out. Who says it is written beside it. */
const WORDS: readonly RegExp[] = [
  /\bEAI_AGAIN\b|\bENOTFOUND\b|\bENETUNREACH\b/, // Node, and what is written for it: npm, pnpm, yarn
  /\bDNSResolveFailed\b/, // bun
  /could(?:n't| not) resolve (?:host|'|proxy)/i, // curl, git, cargo, apt
  /Temporary failure (?:in name resolution|resolving)/, // glibc: Python, ssh, Ruby; apt
  /Name or service not known|Name does not resolve|No address associated with hostname/, // glibc, musl
  /unable to resolve host address|bad address '/, // wget, and that of busybox
  /network is unreachable/i, // the kernel
  /dial tcp: (?:lookup|address) /, // Go
  /failed to lookup address information|dns error:/, // Rust: uv, rustup
  /NameResolutionError|\(from versions: none\)/, // pip
  /UnknownHostException|Unknown host /, // Java: Maven, Gradle
  /php_network_getaddresses/, // composer
  /Failed to connect to (?!localhost|127\.|::1|\[::1\])\S+ port \d+/, // curl, with an address instead of a name
];

/** What they say when the gate refuses a host before there is a tunnel: its reason is in an answer that none of them shows. */
const REFUSED: readonly RegExp[] = [
  /CONNECT tunnel failed, response 403|Received HTTP code 403 from proxy/, // curl, git, cargo
  /Tunnel connection failed: 403/, // Python, pip
  /Proxy tunneling failed: Forbidden/, // wget
  /npm error 403 403 Forbidden - .* - (?:\[object Object\]|EGRESS_DENIED)/, // a registry's own refusal has other words, or none
];

/** Commands that hardly do anything without a network: a program, and which of its verbs. Without verbs, all of it. */
const FETCHERS: Readonly<Record<string, string>> = {
  "npm|pnpm|bun": "i|install|ci|add|update|upgrade|outdated|view|create|init|exec|dlx|publish|audit",
  "npx|pnpx|bunx|uvx|curl|wget|ssh|scp|ping|nslookup|dig": "",
  yarn: "install|add|upgrade|dlx|create",
  "pip|pip3": "install|download|wheel|index",
  uv: "pip|add|sync|lock|tool",
  poetry: "install|add|lock|update",
  cargo: "fetch|install|add|update|search|publish",
  rustup: "",
  go: "get|install|mod",
  git: "clone|fetch|pull|push|ls-remote|submodule",
  "apt|apt-get|apk|dnf|yum": "update|upgrade|install|add",
  "gem|bundle": "install|update",
  composer: "install|require|update",
};

const FETCHES = new RegExp(
  Object.entries(FETCHERS)
    .map(([programs, verbs]) => String.raw`(?:${programs})${verbs && String.raw`\s(?:[^|;&\n]*\s)?(?:${verbs})`}`)
    .map((one) => String.raw`(?<![\w.-])${one}(?![\w.-])`)
    .join("|"),
);

const LOOPBACK = /\blocalhost\b|\b127\.0\.0\.1\b|\[::1\]/;

/** The last of each output is where an error is; a long log is not searched. */
const TAIL_CHARS = 8192;

export type Ended = Pick<ExecResult, "command" | "exit_code" | "timed_out" | "stdout" | "stderr">;

/** Whether a command in a sandbox without a network ended as it did because it wanted one. */
export function missedNetwork(ended: Ended): boolean {
  const command = lineOf(ended);
  if (ended.timed_out && FETCHES.test(command) && !LOOPBACK.test(command)) return true;
  return mayBeAboutIt(ended) && says(ended, WORDS);
}

/** Whether a command in a sandbox with a gate wanted a host that is not listed: one that is listed has a name that resolves. */
export const missedHost = (ended: Ended): boolean => mayBeAboutIt(ended) && says(ended, [...WORDS, ...REFUSED]);

/** `npm install | tail` succeeds, because `tail` does. `grep ENOTFOUND` does too, and is about something else. */
const mayBeAboutIt = (ended: Ended): boolean => ended.exit_code !== 0 || FETCHES.test(lineOf(ended));

const lineOf = ({ command }: Ended): string => (typeof command === "string" ? command : command.join(" "));

function says(ended: Ended, list: readonly RegExp[]): boolean {
  return [ended.stderr, ended.stdout].some((output) => {
    const tail = output.slice(-TAIL_CHARS);
    return list.some((words) => words.test(tail));
  });
}
