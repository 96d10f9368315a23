import { denied } from "./admission.ts";
import type { UpstreamFault } from "./connecting.ts";
import type { Denied } from "./denial.ts";
import type { ExchangeRecord } from "./exchange-record.ts";

/** The refusal of a request whose upstream failed. */
export const upstreamFailed = (record: ExchangeRecord, { message, hint }: UpstreamFault): Denied =>
  denied(record, "UPSTREAM_FAILED", `The upstream failed: ${message}`, hint === undefined ? {} : { hint });
