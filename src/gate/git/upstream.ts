import { writeFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { GateRepo, GitOrder } from "../../model/git-order.ts";
import type { ReachProgram } from "../host-connections.ts";
import { explainUpstream } from "../../policy/git/upstream-problem.ts";
import { type GitCall, type GitResult, type HostGit, collect } from "./host-git.ts";

const MAX_SAID = 64 * 1024;

/** The upstream of one repository, as host git reaches it. */
export class Upstream {
  readonly #git: HostGit;
  readonly #repo: GateRepo;
  readonly #order: GitOrder;
  readonly #reach: ReachProgram;

  constructor(git: HostGit, repo: GateRepo, order: GitOrder, reach: ReachProgram) {
    this.#git = git;
    this.#repo = repo;
    this.#order = order;
    this.#reach = reach;
  }

  /** Runs git with the upstream's URL in its words. `problem` is for people, and undefined when it went well. */
  async run(
    service: "fetch" | "push",
    words: (url: string) => readonly string[],
    call: GitCall,
  ): Promise<GitResult & { readonly problem: string | undefined }> {
    const { way } = this.#repo;
    const result =
      way.kind === "http"
        ? await this.#git.run(words(way.url), { ...call, config: { ...call.config, ...this.#httpConfig(way) } })
        : await this.#runOverProgram(service === "fetch" ? way.fetch_place : way.push_place, words, call);
    return { ...result, problem: result.code === 0 ? undefined : explainUpstream(result.said, this.#repo) };
  }

  /** SECURITY: the credential is in no argument; the environment of git is closed to all but root (G-83) */
  #httpConfig({ authorization, ca, url }: Extract<GateRepo["way"], { kind: "http" }>): Record<string, string> {
    const { proxy, ca: ownCa } = this.#order.way_out;
    // A repository's own authority is the only one for it; the host's own comes beside the usual ones.
    const authorities = ca ?? (ownCa === null ? null : [...rootCertificates, ownCa].join("\n"));
    return {
      [`protocol.${url.startsWith("https:") ? "https" : "http"}.allow`]: "always",
      ...(authorization !== null && { "http.extraHeader": `Authorization: ${authorization}` }),
      "http.proxy": proxy ?? "",
      ...(authorities !== null && { "http.sslCAInfo": this.#certificates(authorities) }),
    };
  }

  #certificates(pem: string): string {
    const path = `${this.#order.folder}/${this.#repo.name}.pem`;
    writeFileSync(path, pem, { mode: 0o600 });
    return path;
  }

  /** Over the standard input and output of a program that the keeper has started, on descriptor 3. */
  async #runOverProgram(place: number, words: (url: string) => readonly string[], call: GitCall): Promise<GitResult> {
    let program: Awaited<ReturnType<ReachProgram>>;
    try {
      program = await this.#reach(place);
    } catch (error) {
      return { code: null, said: String(error), stdout: Buffer.alloc(0) };
    }
    let heard = "";
    program.said.on("data", (chunk: Buffer) => (heard = (heard + chunk.toString()).slice(-MAX_SAID)));
    program.said.on("error", () => undefined);
    const saidAll = new Promise<void>((done) => program.said.once("close", done));
    const running = this.#git.start(words(`fd::3/${this.#repo.name}`), {
      ...call,
      config: { ...call.config, "protocol.fd.allow": "always" },
      hasStream: true,
      input: "",
    });
    const collected = collect(running);
    const own = running.stream;
    if (own && "write" in own && "read" in own) {
      const { talk } = program;
      Object.assign(own, { allowHalfOpen: true });
      Object.assign(talk, { allowHalfOpen: true });
      own.on("error", () => talk.destroy());
      talk.on("error", () => own.destroy());
      own.pipe(talk).pipe(own);
    }
    const { code, said, stdout } = await collected;
    program.talk.destroy();
    await Promise.race([saidAll, new Promise((done) => setTimeout(done, 1000).unref())]);
    program.said.destroy();
    return { code, said: `${heard}${said}`, stdout };
  }
}
