import { pipeline } from "node:stream";
import type { ModelUsage } from "../../model/model-usage.ts";
import { ModelUsageReader, isModelCall } from "../../policy/egress/model-usage.ts";
import { codingsOf, decodersFor } from "./content-decoding.ts";
import { headerValue } from "./header-list.ts";
import type { ReadRequest } from "./request-facts.ts";
import type { UpstreamAnswer } from "./upstream-call.ts";

/** An answer that is unpacked more slowly than it comes is not counted, rather than held up. */
const MAX_BEHIND = 1024 * 1024;
const MAX_UNPACKED = 64 * 1024 * 1024;
/** For the last of it to be unpacked. */
const PATIENCE_MS = 1000;

/** Counts the tokens of an answer beside its way to the sandbox, which never waits for it. */
export interface UsageMeter {
  watch(chunk: Buffer): void;
  /** Once the answer is over; null when it told nothing. */
  usage(): Promise<ModelUsage | null>;
}

/** Null for what is no answer of a model. `isUnpacked`: the chunks that it will see are. */
export function usageMeter(request: ReadRequest, answer: UpstreamAnswer, isUnpacked: boolean): UsageMeter | null {
  if (!isModelCall(request.method, request.target.path) || answer.status < 200 || answer.status > 299) return null;
  const reader = ModelUsageReader.for(headerValue(answer.headers, "content-type"));
  const codings = isUnpacked ? [] : codingsOf(answer.headers);
  if (!reader) return null;
  return codings.length === 0 ? plainMeter(reader) : packedMeter(reader, codings);
}

const plainMeter = (reader: ModelUsageReader): UsageMeter => ({
  watch: (chunk) => reader.push(chunk),
  usage: () => Promise.resolve(reader.usage ?? null),
});

function packedMeter(reader: ModelUsageReader, codings: readonly string[]): UsageMeter | null {
  const decoders = decodersFor(codings);
  const first = decoders?.[0];
  const last = decoders?.at(-1);
  if (!decoders || !first || !last) return null;
  const over = new Promise<void>((done) => pipeline(decoders as never, () => done()));
  let unpacked = 0;
  last.on("data", (chunk: Buffer) => {
    unpacked += chunk.length;
    if (unpacked <= MAX_UNPACKED) reader.push(chunk);
    else first.destroy();
  });
  return {
    watch(chunk) {
      if (first.destroyed) return;
      if (first.writableLength > MAX_BEHIND) first.destroy();
      else first.write(chunk);
    },
    async usage() {
      first.end();
      const timer = setTimeout(() => first.destroy(), PATIENCE_MS);
      await over;
      clearTimeout(timer);
      return reader.usage ?? null;
    },
  };
}
