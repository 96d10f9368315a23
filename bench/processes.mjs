import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended meanwhile, or the file is not there on this kernel
  }
}

export function allPids() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** @param {number} pid */
const parentOf = (pid) =>
  Number(
    read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, "")
      .split(" ")[1],
  );
/** @param {number} pid */
const isZombie = (pid) => /^.*\) [ZX]/s.test(read(`/proc/${pid}/stat`));

/** Every living process below this one. @param {number} pid */
export function descendants(pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const one of allPids()) {
    const parent = parentOf(one);
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  /** @type {number[]} */
  const found = [];
  for (let next = children.get(pid) ?? []; next.length > 0; next = next.flatMap((one) => children.get(one) ?? []))
    found.push(...next);
  return found.filter((one) => !isZombie(one));
}

/** @param {string} text @param {string} field */
const kibibytes = (text, field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);

/** Memory that a process alone uses plus its share of what it shares, in KiB. @param {number} pid */
export const proportionalKib = (pid) => kibibytes(read(`/proc/${pid}/smaps_rollup`), "Pss");
/** Memory that only this process has, in KiB. @param {number} pid */
export const privateKib = (pid) => {
  const text = read(`/proc/${pid}/smaps_rollup`);
  return kibibytes(text, "Private_Clean") + kibibytes(text, "Private_Dirty");
};
/** @param {number} pid */
export const residentKib = (pid) => kibibytes(read(`/proc/${pid}/status`), "VmRSS");
/** @param {number} pid */
export const commandOf = (pid) => read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();

/** @param {number} pid */
export function openFiles(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Living processes in a cgroup of this name, or below one. @param {string} name */
export function processesInCgroup(name) {
  return allPids().filter((pid) => read(`/proc/${pid}/cgroup`).includes(`/${name}/`) && !isZombie(pid));
}

/** Living processes whose command line names something in this folder. @param {string} folder */
export function processesNaming(folder) {
  return allPids().filter((pid) => pid !== process.pid && commandOf(pid).includes(`${folder}/`) && !isZombie(pid));
}
