/**
 * The configuration that a seeded `.git` gets: names and settings that decide how the checkout looks, and nothing that carries a
 * credential, names a program or leads to another file. It is an allowlist, so what git learns later stays out.
 */

/** Keys in lower case as `git config --list` prints them, without a subsection. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  "core.repositoryformatversion",
  "core.filemode",
  "core.symlinks",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.autocrlf",
  "core.eol",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "extensions.objectformat",
  "extensions.refstorage",
  "extensions.compatobjectformat",
]);

const NAMED_KEYS: ReadonlySet<string> = new Set([
  "remote.url",
  "remote.fetch",
  "remote.tagopt",
  "branch.remote",
  "branch.merge",
  "branch.rebase",
  "submodule.url",
  "submodule.active",
]);

/** `listing` is what `git config --no-includes --list -z` prints. */
export function safeGitConfig(listing: string): string {
  const sections = new Map<string, string[]>();
  const add = (section: string, line: string) => {
    const lines = sections.get(section);
    if (lines) lines.push(line);
    else sections.set(section, [line]);
  };
  for (const record of listing.split("\0")) {
    const end = record.indexOf("\n");
    const key = end < 0 ? record : record.slice(0, end);
    // a key without "=" is true
    const value = end < 0 ? "true" : record.slice(end + 1);
    const first = key.indexOf(".");
    const last = key.lastIndexOf(".");
    if (first < 0) continue;
    const section = key.slice(0, first);
    const name = key.slice(last + 1);
    if (first === last) {
      if (PLAIN_KEYS.has(key)) add(`[${section}]`, `${name} = ${quoted(value)}`);
      continue;
    }
    if (!NAMED_KEYS.has(`${section}.${name}`)) continue;
    const kept = name === "url" ? safeRemoteUrl(value) : value;
    if (kept !== undefined) add(`[${section} ${quoted(key.slice(first + 1, last))}]`, `${name} = ${quoted(kept)}`);
  }
  add("[core]", "bare = false");
  // The copy's inodes, owners and change times are others, so only time and size can tell that a file is the one of the index;
  // else the first `git status` would read every file.
  add("[core]", "checkStat = minimal");
  return [...sections].map(([header, lines]) => `${header}\n${lines.map((line) => `\t${line}\n`).join("")}`).join("");
}

/** The address without user, password and query; undefined for paths of the host and for transports that run a program. */
export function safeRemoteUrl(url: string): string | undefined {
  if (/^(https?|git|ssh):\/\//i.test(url)) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined || parsed.host === "") return undefined;
    // the user of an ssh address is part of where it goes, and no secret
    if (parsed.protocol !== "ssh:") parsed.username = "";
    parsed.password = "";
    parsed.search = "";
    parsed.hash = "";
    return parsed.href;
  }
  if (url.includes("::") || url.includes("://")) return undefined;
  return /^([\w.-]+@)?[\w.-]+:[^:]*$/.test(url) ? url : undefined;
}

function quoted(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `"${escaped}"`;
}
