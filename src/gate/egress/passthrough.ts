import type { Duplex } from "node:stream";
import { type RouteInForce } from "./policy-in-force.ts";
import { InsideAddress, UpstreamFault } from "./connecting.ts";
import { dial } from "./dial.ts";
import type { EgressContext } from "./egress-context.ts";
import { ExchangeRecord } from "./exchange-record.ts";
import { isViolation } from "../../policy/dlp/finding.ts";
import { denied, shownHost } from "./admission.ts";
import { LeakFound } from "./outgoing-body.ts";
import type { Place } from "./request-facts.ts";

/** A tunnel to a host whose route says so: what is in it is between the two ends. */
export async function passThrough(
  context: EgressContext,
  stream: Duplex,
  place: Place,
  { route }: RouteInForce,
): Promise<void> {
  const { host, port } = place;
  const policy = context.policy();
  const record = new ExchangeRecord(context.events, {
    method: "CONNECT",
    host: shownHost(policy, host),
    port,
    path: "",
  });
  record.rule = route.host;
  try {
    // SECURITY: a name below a star is the sandbox's choice, and leaves with the question for its address (G-41)
    const findings = policy.everywhere.head({ host, path: "", query: "", headers: [] });
    record.found(findings);
    if (findings.some(isViolation)) throw new LeakFound();
    const socket = await dial({ ...place, route }, policy.order.way_out);
    socket.on("data", (chunk: Buffer) => (record.bytesReceived += chunk.length)).pause();
    stream.on("data", (chunk: Buffer) => (record.bytesSent += chunk.length)).pause();
    stream.pipe(socket).pipe(stream);
    const close = () => {
      stream.destroy();
      socket.destroy();
    };
    socket.once("error", close);
    stream.once("error", close);
    stream.once("close", close);
    await new Promise<void>((done) => socket.once("close", () => done()));
    record.passed(200);
    stream.destroy();
  } catch (error) {
    const code =
      error instanceof LeakFound ? "DLP_BLOCKED" : error instanceof InsideAddress ? "EGRESS_DENIED" : "UPSTREAM_FAILED";
    if (code === "UPSTREAM_FAILED" && !(error instanceof UpstreamFault))
      context.log.error("a tunnel failed", { reason: String(error) });
    denied(record, code, String(error));
    stream.destroy();
  }
}
