import { lookup } from "node:dns/promises";
import { type Socket, connect as connectTcp, isIP } from "node:net";
import {
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
} from "node:tls";
import { errnoOf } from "../../base/errors.ts";
import type { EgressOrder, GateRoute } from "../../model/egress-order.ts";
import { addressClass } from "../../policy/egress/address-class.ts";
import { CONNECT_MS, InsideAddress, OtherProtocol, UpstreamFault, connected, reasonOf } from "./connecting.ts";
import { unknownIssuer } from "./unknown-issuer.ts";
import { connectThroughProxy } from "./way-out.ts";

/** As OpenSSL names the alert of a server that takes none of the protocols that it was offered. */
const NO_PROTOCOL = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";
/** So much of a long body is on its way to the kernel while the next part of it is looked at. */
const BUFFERED_BYTES = 256 * 1024;

/** Where a request goes, as its route lets it. */
export interface Destination {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  readonly route: GateRoute;
}

/** Opens a connection to where a route's host is. The address that was checked is the one that is dialled. */
export async function dial({ host, port, route }: Destination, wayOut: EgressOrder["way_out"]): Promise<Socket> {
  try {
    if (route.connect !== null) return await connected(connectTcp(addressAndPort(route.connect)), host);
    if (wayOut.proxy !== null) return await connectThroughProxy(wayOut, host, port, CONNECT_MS);
    const addresses = await resolve(host);
    return await connected(
      connectTcp({
        host,
        port,
        autoSelectFamily: true,
        // SECURITY: no second question to a resolver, which might answer differently (G-36)
        lookup: (_name, options, done) => {
          if (options.all === true) done(null, addresses);
          else done(null, addresses[0]?.address ?? "", addresses[0]?.family);
        },
      }),
      host,
    );
  } catch (error) {
    if (error instanceof UpstreamFault || error instanceof InsideAddress) throw error;
    throw new UpstreamFault(`cannot connect to ${host}: ${reasonOf(error)}`);
  }
}

async function resolve(host: string): Promise<{ address: string; family: number }[]> {
  const all = await lookup(host, { all: true, verbatim: true }).catch((error: unknown) => {
    throw new UpstreamFault(`the name ${host} does not resolve: ${reasonOf(error)}`);
  });
  const outside = all.filter(({ address }) => addressClass(address) === undefined);
  if (outside.length > 0) return outside;
  const kind = addressClass(all[0]?.address ?? "");
  throw new InsideAddress(`the name ${host} leads to an address that is ${kind ?? "unknown"}`);
}

export function addressAndPort(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at).replaceAll(/^\[|\]$/g, "");
  if (isIP(host) === 0) throw new UpstreamFault(`${text} is no address and port`);
  return { host, port: Number(text.slice(at + 1)) };
}

/** What is trusted for upstreams: made once for each set of authorities, because it takes long. */
export class Trust {
  readonly #contexts = new Map<string, SecureContext>();

  /** A route's own authority is the only one for its host. */
  context(route: GateRoute, wayOut: EgressOrder["way_out"]): SecureContext {
    const key = route.ca ?? (wayOut.ca === null ? "" : `+${wayOut.ca}`);
    const known = this.#contexts.get(key);
    if (known) return known;
    const ca = route.ca !== null ? [route.ca] : wayOut.ca === null ? undefined : [...rootCertificates, wayOut.ca];
    const made = createSecureContext({ ...(ca && { ca }), minVersion: "TLSv1.2" });
    this.#contexts.set(key, made);
    return made;
  }
}

/** TLS to an upstream, which has to prove that it is the host. */
export function secured(
  socket: Socket,
  { host, route }: Destination,
  secureContext: SecureContext,
  protocols: readonly string[],
): Promise<TLSSocket> {
  return new Promise((done, fail) => {
    const options: ConnectionOptions & { highWaterMark: number } = {
      socket,
      servername: host,
      secureContext,
      ALPNProtocols: [...protocols],
      highWaterMark: BUFFERED_BYTES,
    };
    const tls = connectTls(options);
    const timer = setTimeout(() => tls.destroy(new Error("no handshake in time")), CONNECT_MS);
    const onError = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      const what = `no secure connection to ${host}`;
      const trust = route.ca === null ? "configuration" : "route";
      const Fault = errnoOf(error) === NO_PROTOCOL ? OtherProtocol : UpstreamFault;
      fail(unknownIssuer(what, error, trust) ?? new Fault(`${what}: ${reasonOf(error)}`));
    };
    tls.once("error", onError);
    tls.once("secureConnect", () => {
      clearTimeout(timer);
      tls.off("error", onError);
      done(tls);
    });
  });
}
