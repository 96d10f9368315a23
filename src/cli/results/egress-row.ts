import type { EventOf } from "../../model/event.ts";
import { formatBytes } from "../output/bytes.ts";
import { formatElapsed, formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";

export type EgressTold = EventOf<"egress.request" | "egress.denied">;

export const EGRESS_HEADER = ["TIME", "STATUS", "METHOD", "RULE", "OUT", "IN", "TOOK", "WHAT"] as const;
/** As wide as most are. */
export const EGRESS_COLUMNS = [19, 15, 7, 24, 8, 8, 7, 0] as const;

/** One request, for a table. */
export function egressRow(event: EgressTold): string[] {
  const { time, method, rule, bytes_sent, bytes_received, duration_ms } = event;
  return [
    formatTime(time),
    event.kind === "egress.request" ? String(event.status) : event.code,
    method,
    rule ?? "-",
    formatBytes(bytes_sent),
    formatBytes(bytes_received),
    formatElapsed(duration_ms),
    whatOf(event),
  ].map(escapeName);
}

/** A question for a name has no port, and a request to an address no host. */
function placeOf(host: string, port: number): string {
  if (port === 443) return `https://${host}`;
  if (port === 80) return `http://${host}`;
  return port === 0 ? host : `${host}:${port}`;
}

function whatOf({ host, port, path, injected, findings, model_usage: usage }: EgressTold): string {
  const place = placeOf(host, port);
  const notes = [
    ...(injected ? ["token put in"] : []),
    ...findings.map(({ rule, name, place: where }) => `found ${rule}${name === null ? "" : ` ${name}`} in ${where}`),
    // An event of an older version has none.
    ...((usage as typeof usage | undefined)
      ? [`${usage?.input_tokens ?? 0} tokens in, ${usage?.output_tokens ?? 0} out`]
      : []),
  ];
  return `${place}${path}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
}
