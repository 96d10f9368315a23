import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import { BrokenPkt, FLUSH, PktReader, pktLine } from "../../policy/git/pkt-line.ts";
import { type PushFailure, type PushStep, failed, refusalReason, refusalText } from "../../policy/git/push-failure.ts";
import {
  NO_OBJECT,
  type PushCommand,
  type PushCommands,
  isDeletion,
  readPushCommands,
} from "../../policy/git/push-commands.ts";
import { pushDigest } from "../../policy/git/push-digest.ts";
import { shortRef } from "../../policy/git/ref-rules.ts";
import { examinePush } from "./examine-push.ts";
import { type Forwarded, forwardPush } from "./forward-push.ts";
import type { GitContext, ServedRepo } from "./git-context.ts";
import type { Hold } from "./held-pushes.ts";
import { MAX_COMMAND_BYTES } from "./limits.ts";
import { PushAnswer } from "./push-answer.ts";
import { PackRefused, Quarantine } from "./quarantine.ts";
import { bodyOf, head } from "./serve-fetch.ts";

const CAPABILITIES = [
  "report-status",
  "report-status-v2",
  "delete-refs",
  "side-band-64k",
  "quiet",
  "atomic",
  "ofs-delta",
  // What a pack has is what is pushed, and nothing that the upstream has already.
  "no-thin",
  "push-options",
  "object-format=sha1",
  "agent=cloche",
].join(" ");

const NEVER_APPROVED: ReadonlySet<PushStep> = new Set(["unpack", "hidden"]);
const TOO_MANY_HELD = "too many pushes wait for the operator already; push again when one of them is answered";

/** What there is to be changed, as the upstream has it now. */
export async function advertisePush(
  _context: GitContext,
  { mirror }: ServedRepo,
  response: ServerResponse,
): Promise<void> {
  const refs = await mirror.refresh();
  const lines = refs.length === 0 ? [{ id: NO_OBJECT, ref: "capabilities^{}" }] : refs;
  response.writeHead(200, head("git-receive-pack-advertisement"));
  response.end(
    Buffer.concat([
      pktLine("# service=git-receive-pack\n"),
      FLUSH,
      ...lines.map(({ id, ref }, at) => pktLine(`${id} ${ref}${at === 0 ? `\0${CAPABILITIES}` : ""}\n`)),
      FLUSH,
    ]),
  );
}

/** A push: everything is looked at, then all of it goes on or nothing does, and the sandbox is told why. */
export async function servePush(
  context: GitContext,
  served: ServedRepo,
  request: IncomingMessage,
  response: ServerResponse,
  hold: Hold,
): Promise<void> {
  const body = bodyOf(request);
  // Before its body a large push asks whether it is welcome, with an empty list.
  let said: PushHead;
  try {
    said = await readHead(body);
  } catch (error) {
    if (!(error instanceof BrokenPkt)) throw error;
    response.writeHead(400, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(`cloche: this is no push: ${error.message}\n`);
    request.resume();
    return;
  }
  response.writeHead(200, head("git-receive-pack-result"));
  if (said.commands.length === 0) {
    response.end();
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = new PushAnswer(response, said.capabilities);
  await new Push({ context, served, head: said, answer, gone: gone.signal, hold }).run(body);
}

interface PushHead extends PushCommands {
  readonly options: readonly string[];
  /** The first bytes of the pack. */
  readonly rest: Buffer;
}

async function readHead(body: Readable): Promise<PushHead> {
  const lines: Buffer[] = [];
  const rest = await readSection(body, Buffer.alloc(0), lines);
  const commands = readPushCommands(lines);
  if (!commands.capabilities.has("push-options") || commands.commands.length === 0)
    return { ...commands, options: [], rest };
  const options: Buffer[] = [];
  const pack = await readSection(body, rest, options);
  return { ...commands, options: options.map((line) => line.toString("utf8").replace(/\n$/, "")), rest: pack };
}

/** Reads lines up to a flush, and gives what was read behind it. */
async function readSection(body: Readable, first: Buffer, into: Buffer[]): Promise<Buffer> {
  const reader = new PktReader(MAX_COMMAND_BYTES);
  for (let chunk: Buffer | undefined = first; chunk; chunk = await nextChunk(body)) {
    const { lines, rest } = reader.push(chunk);
    into.push(...lines);
    if (rest) return rest;
  }
  throw new BrokenPkt("it ends within its first lines");
}

async function nextChunk(body: Readable): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = body.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (body.readableEnded || body.destroyed) return undefined;
    await new Promise<void>((done) => {
      const over = () => {
        for (const name of ["readable", "end", "close", "error"]) body.off(name, over);
        done();
      };
      for (const name of ["readable", "end", "close", "error"]) body.on(name, over);
    });
  }
}

interface Pushed {
  readonly context: GitContext;
  readonly served: ServedRepo;
  readonly head: PushHead;
  readonly answer: PushAnswer;
  /** The client has gone away. */
  readonly gone: AbortSignal;
  readonly hold: Hold;
}

class Push {
  readonly #context: GitContext;
  readonly #served: ServedRepo;
  readonly #head: PushHead;
  readonly #answer: PushAnswer;
  readonly #gone: AbortSignal;
  readonly #hold: Hold;

  constructor({ context, served, head: said, answer, gone, hold }: Pushed) {
    this.#context = context;
    this.#served = served;
    this.#head = said;
    this.#answer = answer;
    this.#gone = gone;
    this.#hold = hold;
  }

  async run(body: Readable): Promise<void> {
    const quarantine = new Quarantine(this.#context.git, this.#served.mirror, this.#context.quarantine());
    try {
      const failures = await this.#examine(quarantine, body);
      if (failures.length === 0 || (await this.#isApproved(failures))) await this.#forward(quarantine);
      else this.#refuse(failures);
    } catch (error) {
      this.#context.log.warn("a push failed", { repo: this.#served.repo.name, reason: messageOf(error) });
      this.#refuse([failed("unpack", "the git gate could not look at it; the operator finds the reason in its log")]);
    } finally {
      await quarantine.remove();
    }
  }

  async #examine(quarantine: Quarantine, body: Readable): Promise<PushFailure[]> {
    const { commands, options, rest } = this.#head;
    const hasPack = commands.some((command) => !isDeletion(command));
    const { repo } = this.#served;
    try {
      if (hasPack) await quarantine.unpack(rest, body, this.#gone);
      else body.resume();
      return await examinePush({
        git: this.#context.git,
        quarantine,
        repo,
        commands,
        options,
        scan: this.#context.scan(),
        identity: this.#context.order()?.identity ?? null,
        signal: this.#gone,
        onProgress: (text) => this.#answer.say(`cloche: ${text}\n`),
      });
    } catch (error) {
      if (!(error instanceof PackRefused)) throw error;
      body.resume();
      return [failed("unpack", this.#context.scan().redactText("pack", error.message).value)];
    }
  }

  /** SECURITY: what git itself cannot take, and what no ref shows, is for nobody to approve (G-125) */
  async #isApproved(failures: readonly PushFailure[]): Promise<boolean> {
    const { repo } = this.#served;
    if (repo.on_violation !== "supervise" || failures.some(({ step }) => NEVER_APPROVED.has(step))) return false;
    const { commands, options } = this.#head;
    const facts = { repo: repo.name, commands, options, failures };
    const decided = await this.#hold(() =>
      this.#context.held.decide({ ...facts, digest: pushDigest(facts) }, (text) => this.#answer.say(text), this.#gone),
    );
    const { isApproved, reason } = decided ?? { isApproved: false, reason: TOO_MANY_HELD };
    if (reason !== null) this.#answer.say(`cloche: ${reason}\n`);
    return isApproved;
  }

  #refuse(failures: readonly PushFailure[]): void {
    const { commands } = this.#head;
    const isUnpacked = !failures.some(({ step }) => step === "unpack");
    this.#answer.say(refusalText(failures));
    this.#answer.end(
      isUnpacked ? "ok" : "refused by the git gate",
      commands.map(({ ref }) => ({ ref, problem: refusalReason(failures, ref) })),
    );
    const steps = [...new Set(failures.map(({ step }) => step))];
    this.#tell("push.rejected", `refused: ${steps.join(", ")}`);
  }

  /** From here on nobody's going away stops it: what the upstream has taken is taken over. */
  async #forward(quarantine: Quarantine): Promise<void> {
    const { commands, options } = this.#head;
    const { mirror, upstream } = this.#served;
    await mirror.inTurn(async () => {
      const { refused, messages } = this.#shown(await forwardPush(upstream, commands, options, quarantine.both));
      for (const message of messages) this.#answer.say(`${message}\n`);
      if (refused.size > 0) {
        const reasons = [...refused].map(([ref, reason]) => `${shortRef(ref)}: ${reason}`);
        this.#answer.say(`cloche: the upstream did not take it: ${reasons.join("; ")}\n`);
      }
      this.#answer.end(
        "ok",
        commands.map((command) => outcome(command, refused)),
      );
      if (refused.size > 0) {
        this.#tell("push.rejected", `the upstream: ${[...refused.values()].join("; ")}`);
        return;
      }
      this.#tell("push.accepted", "");
      // The client need not wait for it: whoever asks next has the turn after this.
      await mirror.accept(quarantine.objects, commands);
    });
  }

  /** SECURITY: what an upstream says may have the credential in it that it was given (G-157) */
  #shown({ refused, messages }: Forwarded): Forwarded {
    const shown = (text: string) => this.#context.scan().redactText("path", text).value;
    return {
      messages: messages.map(shown),
      refused: new Map([...refused].map(([ref, reason]) => [ref, shown(reason)])),
    };
  }

  #tell(kind: "push.accepted" | "push.rejected", reason: string): void {
    const scan = this.#context.scan();
    const refs = this.#head.commands.map(({ ref }) => scan.redactText("path", ref).value.slice(0, 200)).slice(0, 100);
    const repo = this.#served.repo.name;
    if (kind === "push.accepted") this.#context.tell({ kind, repo, refs });
    else this.#context.tell({ kind, repo, refs, reason: scan.redactText("path", reason).value.slice(0, 500) });
  }
}

const outcome = (
  { ref }: PushCommand,
  refused: ReadonlyMap<string, string>,
): { ref: string; problem: string | undefined } => ({
  ref,
  problem: refused.size === 0 ? undefined : (refused.get(ref) ?? "atomic transaction failed"),
});
