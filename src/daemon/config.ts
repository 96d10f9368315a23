import { statSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { errnoOf, messageOf } from "../base/errors.ts";
import { readPlainFile } from "../base/read-plain-file.ts";
import { aliasFault, yamlWords } from "../base/yaml-words.ts";
import { failure } from "../model/error-codes.ts";
import { Config } from "../model/config.ts";
import { describeIssue } from "../model/describe-issue.ts";

const MAX_BYTES = 1024 * 1024;

/** `config.yaml` as it is now: read again when the file has changed. Throws CONFIG_INVALID. A missing file is an empty one. */
export function configReader(file: string): () => Config {
  let known: { stamp: string; config: Config } | undefined;
  return () => {
    const stamp = stampOf(file);
    if (known?.stamp !== stamp) known = { stamp, config: stamp === "" ? {} : readConfig(file) };
    return known.config;
  };
}

function stampOf(file: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(file, { bigint: true });
    return `${mtimeNs.toString()} ${size.toString()} ${ino.toString()}`;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw unreadable(file, error);
  }
}

function readConfig(file: string): Config {
  let text: string;
  try {
    text = readPlainFile(file, MAX_BYTES).toString("utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? aliasFault(document);
  if (problem) {
    const { line } = lines.linePos(problem.pos[0]);
    throw failure("CONFIG_INVALID", `Cannot read "${file}", line ${line}: ${yamlWords(text, problem)}`);
  }
  const value: unknown = document.toJS() ?? {};
  const parsed = Config.safeParse(value);
  if (!parsed.success) {
    throw failure("CONFIG_INVALID", `Cannot use "${file}": ${describeIssue(Config, value, parsed.error)}`);
  }
  return parsed.data;
}

function unreadable(file: string, error: unknown): Error {
  return failure("CONFIG_INVALID", `Cannot read "${file}": ${messageOf(error)}`, { cause: error });
}
