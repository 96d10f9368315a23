import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Folders that many machines have, and that a text may well name. */
const ORDINARY = [
  "/",
  "/app",
  "/home",
  "/mnt",
  "/opt",
  "/root",
  "/src",
  "/srv",
  "/tmp",
  "/usr/src",
  "/var/tmp",
  "/workspace",
];

/** Folders that only this machine has: the checkout, and the one it is in. */
export function ownFolders(root: string): string[] {
  const ordinary = new Set([...ORDINARY, tmpdir(), homedir()]);
  return [root, dirname(root)].filter((folder) => !ordinary.has(folder));
}

/** Hosts that packages come from on this machine, asked at run time so that no file has to name them. */
export function packageHosts(): string[] {
  const registry = execFileSync("npm", ["config", "get", "registry"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const texts = [
    registry,
    ...aptFiles("/etc/apt").map((file) => readFileSync(file, "utf8").replace(/^\s*(#|\/\/).*$/gm, "")),
  ];
  return [...new Set(texts.flatMap(hostsIn))].filter((host) => !/^(localhost|127\.|\[)/.test(host));
}

export const hostsIn = (text: string): string[] =>
  [...text.matchAll(/\b[a-z+]+:\/\/(?:[^\s/@]*@)?([a-z0-9.-]+)/gi)].map((match) => (match[1] ?? "").toLowerCase());

/** Sources, mirror lists and proxy settings; none on a system without apt. */
function aptFiles(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // not there, or not for us to read
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    if (/^(trusted|keyrings|auth|preferences)/.test(name)) return [];
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? aptFiles(path) : [path];
  });
}

/** How a name is found in a text: not as a part of a longer one. A host of one word is an ordinary word unless it stands in an address. */
export const folderPattern = (folder: string): RegExp => new RegExp(`(?<![\\w.~-])${escape(folder)}(?![\\w-])`);
export const hostPattern = (host: string): RegExp =>
  new RegExp(`${host.includes(".") ? "(?<![\\w.-])" : "//"}${escape(host)}(?![\\w-])`, "i");

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
