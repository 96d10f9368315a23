import type { ModelUsage } from "../../model/model-usage.ts";
import { JsonUsageScan } from "./json-usage-scan.ts";

/** How many servers take a path too: with a slash or parameters at its end, in letters of any size. */
const OTHER_END = String.raw`\/?(?:;[^/]*)?$`;
/**
 * Calls that models answer: Anthropic's messages, OpenAI's chat completions and responses, those who speak like them, and Gemini's.
 *
 * SECURITY: another spelling that the server takes for the same path is a call to a model too, and counts (G-173)
 */
const MODEL_PATH = new RegExp(
  String.raw`(?:\/(?:messages|complete|completions|responses)|:(?:stream)?generateContent)${OTHER_END}`,
  "i",
);
const NEWLINE = 0x0a;
const DATA = Buffer.from("data:");
/** More than that is no count of tokens. */
const MOST = 1_000_000_000;

/** The same over a WebSocket, and OpenAI's talks. */
const MODEL_TALK_PATH = new RegExp(String.raw`\/(?:messages|completions|responses|realtime)${OTHER_END}`, "i");

export const isModelCall = (method: string, path: string): boolean => method === "POST" && MODEL_PATH.test(path);
export const isModelTalk = (path: string): boolean => MODEL_TALK_PATH.test(path);

/**
 * Reads how many tokens an answer took, as it passes: a whole JSON document, or one in each `data:` line of a stream. It keeps a few kilobytes, however long the answer is.
 */
export class ModelUsageReader {
  readonly #scan = new JsonUsageScan((text) => this.#take(text));
  readonly #isStream: boolean;
  /** Of this line, while it may still begin with `data:`; null once that is decided. */
  #head: number | null = 0;
  #isData = false;
  #usage: ModelUsage | undefined;

  /** Undefined for an answer of another kind. */
  static for(contentType: string | undefined): ModelUsageReader | undefined {
    const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (type === "text/event-stream") return new ModelUsageReader(true);
    return type === "application/json" || type.endsWith("+json") ? new ModelUsageReader(false) : undefined;
  }

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  /** Undefined as long as the answer has told nothing. */
  get usage(): ModelUsage | undefined {
    return this.#usage;
  }

  push(chunk: Buffer): void {
    if (!this.#isStream) {
      this.#scan.push(chunk);
      return;
    }
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(NEWLINE, at);
      this.#line(chunk.subarray(at, end < 0 ? chunk.length : end));
      if (end < 0) return;
      this.#head = 0;
      this.#isData = false;
      this.#scan.reset();
      at = end + 1;
    }
  }

  #line(part: Buffer): void {
    let at = 0;
    while (this.#head !== null && at < part.length) {
      if (part[at++] !== DATA[this.#head++]) this.#head = null;
      else if (this.#head === DATA.length) {
        this.#isData = true;
        this.#head = null;
      }
    }
    if (this.#isData && at < part.length) this.#scan.push(part.subarray(at));
  }

  #take(text: string): void {
    const read = readUsage(text);
    if (read) this.#usage = larger(this.#usage, read);
  }
}

/** Later counts of one answer hold what earlier ones said: the largest is the last. */
export function larger(known: ModelUsage | undefined, read: ModelUsage): ModelUsage {
  if (!known) return read;
  return {
    input_tokens: Math.max(known.input_tokens, read.input_tokens),
    output_tokens: Math.max(known.output_tokens, read.output_tokens),
    cache_read_tokens: Math.max(known.cache_read_tokens, read.cache_read_tokens),
    cache_write_tokens: Math.max(known.cache_write_tokens, read.cache_write_tokens),
  };
}

type Fields = Record<string, unknown>;

export function readUsage(text: string): ModelUsage | undefined {
  let fields: Fields;
  try {
    fields = JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
  const input = countOf(fields["input_tokens"] ?? fields["prompt_tokens"]);
  const output = countOf(fields["output_tokens"] ?? fields["completion_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const details = (fields["input_tokens_details"] ?? fields["prompt_tokens_details"]) as Fields | null | undefined;
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    cache_read_tokens: countOf(fields["cache_read_input_tokens"] ?? details?.["cached_tokens"]) ?? 0,
    cache_write_tokens: countOf(fields["cache_creation_input_tokens"]) ?? 0,
  };
}

const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST ? value : undefined;
