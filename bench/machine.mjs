import { readFileSync } from "node:fs";
import os from "node:os";
import process from "node:process";
import { timeCommand } from "./timed-command.mjs";

/** @param {readonly string[]} argv */
async function firstLine(argv) {
  try {
    return (await timeCommand(argv)).stdout.split("\n")[0]?.trim() ?? null;
  } catch {
    return null; // not installed
  }
}

/** What a number means nothing without. */
export async function describeMachine() {
  const osRelease = readFileSync("/etc/os-release", "utf8");
  return {
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.cpus().length,
    memory_mib: Math.round(os.totalmem() / 1024 / 1024),
    load_average: os.loadavg(),
    kernel: os.release(),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1] ?? "unknown",
    root: process.getuid?.() === 0,
    node: process.version,
    bubblewrap: await firstLine(["bwrap", "--version"]),
    runc: await firstLine(["runc", "--version"]),
    docker_client: await firstLine(["docker", "--version"]),
    docker_engine: await firstLine(["dockerd", "--version"]),
  };
}
