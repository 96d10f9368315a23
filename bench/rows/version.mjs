import process from "node:process";
import { fileURLToPath, URL } from "node:url";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { timeToEnd } from "../timed-command.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** @param {Pick<import("../bench.mjs").Bench, "rounds" | "seconds">} bench */
export async function measureVersion({ rounds, seconds }) {
  const samples = await interleave({
    rounds: rounds * 2,
    seconds,
    warmUp: 2,
    cases: {
      ours: () => timeToEnd([process.execPath, CLI, "--version"]),
      node: () => timeToEnd([process.execPath, "-e", "0"]),
    },
  });
  return [
    compare({
      what: "cloche --version",
      ours: samples["ours"] ?? [],
      peer: "node -e 0",
      peerSamples: samples["node"] ?? [],
      goal: { most: 1.5, text: "≤ 1.5" },
    }),
  ];
}
