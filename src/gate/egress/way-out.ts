import { type Socket, connect as connectTcp } from "node:net";
import { connect as connectTls, rootCertificates } from "node:tls";
import type { EgressOrder } from "../../model/egress-order.ts";
import { UpstreamFault, connected } from "./connecting.ts";
import { unknownIssuer } from "./unknown-issuer.ts";

const MAX_ANSWER = 16_384;

/**
 * A connection to a host through the proxy that this machine uses for everything. Names are resolved there: behind such a proxy nobody else may be able to. What the
 * proxy reaches is its operator's decision, so it is a way out only where the operator's configuration names it.
 */
export async function connectThroughProxy(
  { proxy, ca }: EgressOrder["way_out"],
  host: string,
  port: number,
  patienceMs: number,
): Promise<Socket> {
  const url = new URL(proxy ?? "");
  const socket = await reach(url, ca, patienceMs);
  const timer = setTimeout(() => socket.destroy(new Error("no answer in time")), patienceMs);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const authorization =
    url.username === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(credentials).toString("base64")}\r\n`;
  socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`);
  try {
    const status = await answered(socket);
    if (status >= 200 && status < 300) return socket;
    throw new UpstreamFault(`the proxy ${url.host} answers ${status} for ${host}`);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function reach(url: URL, ca: string | null, patienceMs: number): Promise<Socket> {
  const isSecure = url.protocol === "https:";
  const at = {
    host: url.hostname.replaceAll(/^\[|\]$/g, ""),
    port: Number(url.port === "" ? (isSecure ? 443 : 80) : url.port),
  };
  const socket = await connected(connectTcp(at), `the proxy ${url.host}`, patienceMs);
  if (!isSecure) return socket;
  const trusted = ca === null ? {} : { ca: [...rootCertificates, ca] };
  const secure = connectTls({ socket, servername: at.host, ...trusted });
  const what = `no secure connection to the proxy ${url.host}`;
  const timer = setTimeout(() => secure.destroy(new Error("no answer in time")), patienceMs);
  try {
    await new Promise<void>((done, fail) =>
      secure
        .once("error", (error: Error) => fail(unknownIssuer(what, error, "proxy") ?? error))
        .once("secureConnect", done),
    );
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return secure;
}

/** The status of the answer; what comes after its head stays in the socket. */
function answered(socket: Socket): Promise<number> {
  return new Promise((done, fail) => {
    let head: Buffer = Buffer.alloc(0);
    const settle = (act: () => void) => {
      socket.off("readable", onReadable).off("error", onError).off("end", onEnd);
      act();
    };
    const onError = (error: Error) => settle(() => fail(new UpstreamFault(`the proxy failed: ${error.message}`)));
    const onEnd = () => onError(new Error("it closed the connection"));
    const onReadable = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf("\r\n\r\n");
        if (end < 0 && head.length > MAX_ANSWER) onError(new Error("its answer is too long"));
        if (end < 0) continue;
        const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString("latin1"))?.[1];
        if (status === undefined) {
          onError(new Error("it does not speak HTTP"));
          return;
        }
        settle(() => {
          if (head.length > end + 4) socket.unshift(head.subarray(end + 4));
          done(Number(status));
        });
        return;
      }
    };
    socket.on("readable", onReadable).once("error", onError).once("end", onEnd);
  });
}
