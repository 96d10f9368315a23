import type { ServerResponse } from "node:http";
import { FLUSH, pktLine, sideBand } from "../../policy/git/pkt-line.ts";

export interface RefOutcome {
  readonly ref: string;
  /** Undefined when it was changed. */
  readonly problem: string | undefined;
}

/** What a client is told of its push: text for people while it goes on, and at the end what became of each ref. */
export class PushAnswer {
  readonly #response: ServerResponse;
  readonly #hasBands: boolean;
  readonly #wantsReport: boolean;

  constructor(response: ServerResponse, capabilities: ReadonlySet<string>) {
    this.#response = response;
    this.#hasBands = capabilities.has("side-band-64k");
    this.#wantsReport = capabilities.has("report-status") || capabilities.has("report-status-v2");
  }

  say(text: string): void {
    if (this.#hasBands && this.#response.writable) this.#response.write(sideBand(2, text));
  }

  end(unpacked: string, refs: readonly RefOutcome[]): void {
    const lines = [
      pktLine(`unpack ${unpacked}\n`),
      ...refs.map(({ ref, problem }) =>
        pktLine(problem === undefined ? `ok ${ref}\n` : `ng ${ref} ${oneLine(problem)}\n`),
      ),
      FLUSH,
    ];
    const report = this.#wantsReport ? Buffer.concat(lines) : Buffer.alloc(0);
    this.#response.end(this.#hasBands ? Buffer.concat([sideBand(1, report), FLUSH]) : report);
  }
}

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}]/gu, " ").slice(0, 500);
