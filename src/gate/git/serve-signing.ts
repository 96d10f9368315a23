import type { IncomingMessage, ServerResponse } from "node:http";
import { signingProblem } from "../../policy/git/signable.ts";
import type { GitContext } from "./git-context.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_SIGNATURE = 64 * 1024;
const SIGN_MS = 15_000;

/** Has the keeper sign a commit or a tag of the sandbox's. The key is ssh-keygen's to read, and the gate never has it. */
export async function serveSigning(
  { order, reach, log, onSigned }: GitContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { signing = null, identity, repos = [] } = order() ?? {};
  if (!signing || !identity) {
    answer(response, 404, "cloche: the bottle has no `git.signing`");
    request.resume();
    return;
  }
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= MAX_BYTES) parts.push(part);
  }
  const payload = Buffer.concat(parts);
  const isAnyAuthor = repos.some(({ rules }) => rules.authors === "any");
  const problem = size > MAX_BYTES ? "it is too long" : signingProblem(payload, { identity, isAnyAuthor });
  if (problem !== undefined) {
    answer(response, 403, `cloche: it is not signed: ${problem}`);
    return;
  }
  onSigned();
  const { talk, said } = await reach(signing.place);
  let heard = "";
  said.on("data", (chunk: Buffer) => (heard = (heard + chunk.toString()).slice(-2000))).on("error", () => undefined);
  Object.assign(talk, { allowHalfOpen: true });
  talk.on("error", () => undefined);
  const timer = setTimeout(() => talk.destroy(), SIGN_MS);
  talk.end(payload);
  let signature = "";
  for await (const chunk of talk as AsyncIterable<Buffer>) {
    signature += chunk.toString("latin1");
    if (signature.length > MAX_SIGNATURE) break;
  }
  clearTimeout(timer);
  said.destroy();
  if (/^-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+-----END SSH SIGNATURE-----\n$/.test(signature)) {
    response.writeHead(200, { "content-type": "text/plain" }).end(signature);
    return;
  }
  log.warn("a commit was not signed", { said: heard });
  answer(response, 502, "cloche: it could not be signed; the operator finds the reason in the gate's log");
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}
