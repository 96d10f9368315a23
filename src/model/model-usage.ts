/** What models were asked and said, in tokens as their providers count them. */
export interface ModelUsage {
  /** As the answer's `input_tokens` or `prompt_tokens` says. Anthropic leaves out what came from its cache or went into it; OpenAI does not. */
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

/** Of all answers that told how many tokens they took. */
export interface ModelUsageTotal extends ModelUsage {
  requests: number;
}

export const NO_MODEL_USAGE: ModelUsageTotal = {
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
};

export const addUsage = (total: ModelUsageTotal, usage: ModelUsage): ModelUsageTotal => ({
  requests: total.requests + 1,
  input_tokens: total.input_tokens + usage.input_tokens,
  output_tokens: total.output_tokens + usage.output_tokens,
  cache_read_tokens: total.cache_read_tokens + usage.cache_read_tokens,
  cache_write_tokens: total.cache_write_tokens + usage.cache_write_tokens,
});
