import type { ExecResult } from "../model/exec.ts";
import { count } from "./bounded.ts";

/** Results in words that several tools share. */
export const plural = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

type Ran = Pick<ExecResult, "exit_code" | "stdout" | "stderr" | "timed_out" | "duration_ms"> & {
  readonly hint?: string | undefined;
};

export function execWords(result: Ran): string {
  const after = `after ${(result.duration_ms / 1000).toFixed(1)} s`;
  const head = result.timed_out
    ? `Timed out: the command was ended ${after}; what it printed follows`
    : `Exit code ${result.exit_code} ${after}`;
  const outputs = (["stdout", "stderr"] as const).flatMap((name) =>
    result[name] === "" ? [] : [`${name}:`, result[name].replace(/\n$/, "")],
  );
  const hint = result.hint === undefined ? [] : [`hint: ${result.hint}`];
  return [head, ...outputs, ...hint].join("\n");
}

interface Listed {
  readonly path: string;
  readonly entries: readonly { path: string; artifact_type: string; size_bytes: number }[];
  readonly total: number;
  readonly next_cursor: number | null;
}

export function fileListWords({ path, entries, total, next_cursor: next }: Listed): string {
  const lines = entries.map(({ path: name, artifact_type: type, size_bytes: size }) =>
    type === "file" ? `${name} ${count(size)} bytes` : `${name} ${type}`,
  );
  const more = next === null ? [] : [`[… ${count(total - next)} more; read on with cursor ${next} …]`];
  return [`${plural(total, "entry").replace("entrys", "entries")} in ${path}`, ...lines, ...more].join("\n");
}

/** What stayed at home, for who wonders why a tool is not found; empty when nothing did. */
export function leftOutWords(seed: { readonly left_out?: unknown }): string {
  const left = seed.left_out as LeftHome | null | undefined;
  if (!left || left.entries === 0) return "";
  const names = left.largest.slice(0, 3).map(({ path }) => path);
  const more = left.entries - names.length;
  return `, without what git ignores: ${names.join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}

interface LeftHome {
  readonly entries: number;
  readonly largest: readonly { readonly path: string }[];
}

export function fileWords({ content, encoding, size_bytes: size, next_offset: next }: FileRead): string {
  const shown = encoding === "base64" ? `No text; in base64:\n${content}` : content;
  return next === null
    ? size === 0
      ? "The file is empty"
      : shown
    : `${shown}\n[… ${count(size - next)} bytes follow; read on with offset ${next} …]`;
}

interface FileRead {
  readonly content: string;
  readonly encoding: string;
  readonly size_bytes: number;
  readonly next_offset: number | null;
}
