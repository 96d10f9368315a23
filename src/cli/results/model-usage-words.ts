import type { ModelUsageTotal } from "../../model/model-usage.ts";

/** `3 model calls, 1,200 tokens in, 340 out`. */
export function modelUsageWords({ requests, input_tokens, output_tokens, ...cache }: ModelUsageTotal): string {
  const { cache_read_tokens: read, cache_write_tokens: written } = cache;
  return [
    `${grouped(requests)} model call${requests === 1 ? "" : "s"}`,
    `${grouped(input_tokens)} tokens in`,
    `${grouped(output_tokens)} out`,
    ...(read === 0 ? [] : [`${grouped(read)} from the cache`]),
    ...(written === 0 ? [] : [`${grouped(written)} into it`]),
  ].join(", ");
}

const grouped = (number: number): string => number.toLocaleString("en-US");
