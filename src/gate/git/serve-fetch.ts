import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FLUSH, pktLine } from "../../policy/git/pkt-line.ts";
import type { GitContext, ServedRepo } from "./git-context.ts";
import { MAX_FETCH_BYTES } from "./limits.ts";

const VERSION = /^version=[012]$/;

/** Which protocol a client speaks: nothing else of its header reaches git. */
function protocolOf({ headers }: IncomingMessage): Record<string, string> {
  const asked = headers["git-protocol"];
  const version = (typeof asked === "string" ? asked : "").split(":").find((one) => VERSION.test(one));
  return version === undefined ? {} : { GIT_PROTOCOL: version };
}

/** What there is to fetch, as the upstream has it now. */
export async function advertiseFetch(
  { git }: GitContext,
  { mirror }: ServedRepo,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await mirror.refresh();
  const env = protocolOf(request);
  const call = { repository: null, env };
  let told = await git.run(["upload-pack", "--strict", "--stateless-rpc", "--advertise-refs", mirror.path], call);
  if (told.code !== 0) {
    // SECURITY: a mirror that is broken is made again, not served (G-85)
    mirror.distrust();
    await mirror.refresh();
    told = await git.run(["upload-pack", "--strict", "--stateless-rpc", "--advertise-refs", mirror.path], call);
    if (told.code !== 0) throw new Error(`git does not serve the mirror: ${told.said.slice(-300)}`);
  }
  response.writeHead(200, head("git-upload-pack-advertisement"));
  // The second version begins with what the server can, without this line.
  const first = env["GIT_PROTOCOL"] === "version=2" ? [] : [pktLine("# service=git-upload-pack\n"), FLUSH];
  response.end(Buffer.concat([...first, told.stdout]));
}

export const head = (what: string): Record<string, string> => ({
  "content-type": `application/x-${what}`,
  "cache-control": "no-cache, max-age=0, must-revalidate",
});

/** The body as it was before it was packed. */
export const bodyOf = (request: IncomingMessage): Readable => {
  if (request.headers["content-encoding"] !== "gzip") return request;
  const unpacked = createGunzip();
  // SECURITY: one that turns out broken when nobody reads it any more ends itself, and not the gate (G-156)
  unpacked.on("error", () => undefined);
  request.on("error", (error) => unpacked.destroy(error));
  return request.pipe(unpacked);
};

/** One round of a fetch. */
export async function serveFetch(
  { git }: GitContext,
  { mirror }: ServedRepo,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const over = new AbortController();
  response.once("close", () => over.abort());
  const running = git.start(["upload-pack", "--strict", "--stateless-rpc", mirror.path], {
    repository: null,
    env: protocolOf(request),
    signal: over.signal,
  });
  const body = bodyOf(request);
  let size = 0;
  body.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_FETCH_BYTES) over.abort();
  });
  body.on("error", () => over.abort());
  body.pipe(running.stdin);
  response.writeHead(200, head("git-upload-pack-result"));
  running.stdout.pipe(response, { end: false });
  const { code, said } = await running.ended;
  if (code === 0 || over.signal.aborted) {
    response.end();
    return;
  }
  // What a client asked for and nobody has is no fault of the mirror's.
  if (!/not our ref|hung up|no such remote ref|unexpected|expected/.test(said)) mirror.distrust();
  response.destroy();
}
