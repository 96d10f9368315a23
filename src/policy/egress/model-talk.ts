import type { ModelUsage } from "../../model/model-usage.ts";
import { JsonUsageScan } from "./json-usage-scan.ts";
import { larger, readUsage } from "./model-usage.ts";

/** With which one asks, over OpenAI's WebSockets. */
const ASKS = "response.create";
/** After which nothing more comes of an answer. */
const ENDS = ["response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done"];
const ERROR = "error";

interface TalkTold {
  /** A model was asked. */
  readonly onAsk: () => void;
  /** An answer told what it took. `isAsked`: of a question that was seen. */
  readonly onAnswer: (usage: ModelUsage, isAsked: boolean) => void;
}

/**
 * Reads what a model is asked and how many tokens its answers took from the messages of a WebSocket, as they pass in pieces. It keeps a few kilobytes, however long a
 * message is. An answer counts also where nobody saw what it answers: how a question is written is up to the sandbox.
 */
export class ModelTalk {
  readonly #told: TalkTold;
  readonly #sent = new MessageReader();
  readonly #received = new MessageReader();
  /** Questions without an answer so far. */
  #open = 0;
  #usage: ModelUsage | undefined;

  constructor(told: TalkTold) {
    this.#told = told;
  }

  send(bytes: Uint8Array): void {
    this.#sent.push(bytes);
  }

  sent(): void {
    if (!this.#sent.end().types.includes(ASKS)) return;
    this.#open++;
    this.#told.onAsk();
  }

  receive(bytes: Uint8Array): void {
    this.#received.push(bytes);
  }

  received(): void {
    const { types, usage } = this.#received.end();
    if (usage) this.#usage = larger(this.#usage, usage);
    const isEnd = types.some((type) => ENDS.includes(type));
    if (!isEnd && !types.includes(ERROR)) return;
    const isAsked = this.#open > 0;
    if (isAsked) this.#open--;
    this.#tell(isAsked);
  }

  /** No more comes: what was told of an answer without an end is all of it. */
  close(): void {
    this.#tell(this.#open > 0);
  }

  #tell(isAsked: boolean): void {
    const told = this.#usage;
    this.#usage = undefined;
    if (told) this.#told.onAnswer(told, isAsked);
  }
}

/** One JSON document after the other. */
class MessageReader {
  readonly #scan = new JsonUsageScan(
    (text) => {
      const read = readUsage(text);
      if (read) this.#usage = larger(this.#usage, read);
    },
    (json) => this.#typed(json),
  );
  /** One that comes twice is read in either way, by one server or another. */
  readonly #types = new Set<string>();
  #usage: ModelUsage | undefined;

  push(bytes: Uint8Array): void {
    this.#scan.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  end(): { types: string[]; usage: ModelUsage | undefined } {
    const told = { types: [...this.#types], usage: this.#usage };
    this.#scan.reset();
    this.#types.clear();
    this.#usage = undefined;
    return told;
  }

  #typed(json: string): void {
    const type = [ASKS, ERROR, ...ENDS].find((known) => known === plain(json));
    if (type !== undefined) this.#types.add(type);
  }
}

function plain(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
