import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";

/**
 * @typedef {{ firstOutputMs: number | undefined, endMs: number, stdout: string }} Timed
 */

/**
 * Runs a program and tells when it first said something and when it ended, in milliseconds since before it was started.
 *
 * @param {readonly string[]} argv @param {{ input?: import("node:stream").Readable }} [options] @returns {Promise<Timed>}
 */
export async function timeCommand(argv, options = {}) {
  const [program, ...rest] = argv;
  if (program === undefined) throw new Error("a command has at least a program");
  return await new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(program, rest, { stdio: [options.input ? "pipe" : "ignore", "pipe", "pipe"] });
    /** @type {number | undefined} */
    let firstOutputMs;
    let endMs = Number.NaN;
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk) => {
      firstOutputMs ??= performance.now() - start;
      stdout += String(chunk);
    });
    child.stderr?.on("data", (chunk) => (stderr += String(chunk)));
    if (options.input && child.stdin) options.input.pipe(child.stdin);
    child.once("error", reject);
    child.once("exit", () => (endMs = performance.now() - start));
    child.once("close", (code, signal) => {
      if (code === 0) resolve({ firstOutputMs, endMs, stdout });
      else
        reject(
          new Error(`"${argv.slice(0, 4).join(" ")} …" ended with ${signal ?? code}: ${stderr.trim().slice(-500)}`),
        );
    });
  });
}

/** The times of a command that prints `ready`: to that output and to its end. @param {readonly string[]} argv */
export async function timeReady(argv) {
  const { firstOutputMs, endMs, stdout } = await timeCommand(argv);
  // A peer that fails quickly would look good.
  if (firstOutputMs === undefined || stdout.trim() !== "ready")
    throw new Error(`"${argv[0]}" did not print what it was told to`);
  return { firstOutputMs, endMs };
}

/** @param {readonly string[]} argv */
export const timeToReady = async (argv) => (await timeReady(argv)).firstOutputMs;

/** @param {readonly string[]} argv */
export const timeToEnd = async (argv) => (await timeCommand(argv)).endMs;
