import type { ModelUsage } from "../../model/model-usage.ts";
import { isModelCall } from "../../policy/egress/model-usage.ts";
import type { EgressContext } from "./egress-context.ts";
import type { ExchangeRecord } from "./exchange-record.ts";
import type { ReadRequest } from "./request-facts.ts";

/** What is sent has about so many bytes for each token. An event of a stream has words of its own beside one. */
const BYTES_PER_TOKEN = 4;
const STREAM_BYTES_PER_TOKEN = 16;

/** What a request costs a run, where it is one to a model. */
export class ModelRequest {
  readonly #budget: EgressContext["budget"];
  readonly #record: ExchangeRecord;
  readonly #isModel: boolean;
  #isBegun = false;

  constructor({ budget }: Pick<EgressContext, "budget">, record: ExchangeRecord, { method, target }: ReadRequest) {
    this.#budget = budget;
    this.#record = record;
    this.#isModel = isModelCall(method, target.path);
  }

  /** SECURITY: it counts as it goes out, so that many at once are no more than many one after the other (G-115) */
  begin(): void {
    if (!this.#isModel) return;
    this.#isBegun = true;
    this.#record.isCounted = true;
    this.#budget.begin();
  }

  /** No model has answered it. */
  refused(): void {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    this.#budget.giveBack();
  }

  /**
   * `isWhole`: the client has taken the answer to its end.
   *
   * SECURITY: an answer costs what it costs, also where its client does not wait for the number, or did not ask for it: then it is estimated (G-115)
   */
  answered(told: ModelUsage | null, sent: number, received: number, { isWhole, isStream }: AnswerFacts): void {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    if (told && isWhole) return;
    const estimate = {
      input: Math.ceil(sent / BYTES_PER_TOKEN),
      output: Math.ceil(received / (isStream ? STREAM_BYTES_PER_TOKEN : BYTES_PER_TOKEN)),
    };
    const input = told ? 0 : estimate.input;
    const output = Math.max(0, estimate.output - (told?.output_tokens ?? 0));
    this.#budget.count(
      { input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 },
      true,
    );
  }
}

interface AnswerFacts {
  readonly isWhole: boolean;
  readonly isStream: boolean;
}
