import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { type AddressInfo, type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLog } from "../../src/base/log.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { GitGate } from "../../src/gate/git/git-gate.ts";
import type { HeldPushes } from "../../src/gate/git/held-pushes.ts";
import type { ReachProgram } from "../../src/gate/host-connections.ts";
import type { GuardedValue } from "../../src/model/egress-order.ts";
import type { PushEvent } from "../../src/model/gate-control.ts";
import type { GateIdentity, GateRepo, GitOrder } from "../../src/model/git-order.ts";
import { type GitWebServer, makeUpstream, refsOf, serveWithHttpBackend } from "./git-server.ts";

export const AGENT = { name: "Review Agent", email: "agent@example.com" };

export interface BedOptions {
  readonly repos?: Readonly<Record<string, Partial<GateRepo>>>;
  readonly identity?: GateIdentity | null;
  readonly guarded?: readonly GuardedValue[];
  readonly reach?: ReachProgram;
  readonly held?: HeldPushes;
  readonly signing?: GitOrder["signing"];
}

export interface Told {
  readonly code: number | null;
  readonly out: string;
}

/** A git gate in this process, with real upstreams behind a web server, and ordinary git before its door. */
export class GitDoorBed implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "git-door-"));
  readonly events: PushEvent[] = [];
  readonly logged: string[] = [];
  signed = 0;
  web!: GitWebServer;
  gate!: GitGate;
  port = 0;
  #listener: Server | undefined;
  #work = 0;

  static async start(options: BedOptions = {}): Promise<GitDoorBed> {
    const bed = new GitDoorBed();
    bed.web = await serveWithHttpBackend(bed.folder);
    bed.newGate(options);
    bed.#listener = createServer((socket) => bed.gate.accept(socket));
    await new Promise<void>((done) => bed.#listener?.listen(0, "127.0.0.1", done));
    bed.port = (bed.#listener.address() as AddressInfo).port;
    bed.obey(options);
    return bed;
  }

  /** As when a gate was killed: the next one knows nothing but what is on the disk, and the order that it is given. */
  newGate({ reach, held, guarded = [] }: BedOptions = {}): void {
    const nobody: ReachProgram = () => Promise.reject(new Error("there are no programs"));
    const log = createLog((line) => this.logged.push(line));
    const told = { tell: (event: PushEvent) => this.events.push(event), onSigned: () => this.signed++ };
    this.gate = new GitGate(log, reach ?? nobody, told, held);
    this.gate.guard(guarded);
  }

  obey({ repos = { app: {} }, identity = AGENT, signing = null }: BedOptions): void {
    for (const name of Object.keys(repos)) if (!existsSync(this.bare(name))) makeUpstream(this.folder, name);
    this.gate.obey({
      folder: join(this.folder, "gate"),
      identity,
      way_out: { proxy: null, ca: null },
      signing,
      repos: Object.entries(repos).map(([name, repo]) => ({
        name,
        shown: "upstream:80",
        web: { host: "upstream.test", ports: [443, 80], path: `team/${name}` },
        way: { kind: "http", url: `${this.web.url}/${name}.git`, authorization: null, token_name: null, ca: null },
        rules: {},
        allowed_findings: [],
        allow_stale: false,
        on_violation: "block",
        ...repo,
      })),
    });
  }

  bare(name: string): string {
    return join(this.folder, `${name}.git`);
  }

  mirror(name: string): string {
    return join(this.folder, "gate", "mirrors", `${name}.git`);
  }

  refs(name = "app"): Record<string, string> {
    return refsOf(this.bare(name));
  }

  url(name = "app"): string {
    return `http://127.0.0.1:${this.port}/${name}.git`;
  }

  /** Ordinary git, as an agent has it. */
  async git(folder: string, ...words: string[]): Promise<Told> {
    const env = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      LC_ALL: "C",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_TERMINAL_PROMPT: "0",
      GIT_AUTHOR_NAME: AGENT.name,
      GIT_AUTHOR_EMAIL: AGENT.email,
      GIT_COMMITTER_NAME: AGENT.name,
      GIT_COMMITTER_EMAIL: AGENT.email,
    };
    const child = spawn("git", ["-C", folder, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (out += chunk.toString()));
    return await new Promise((done) => child.once("close", (code) => done({ code, out })));
  }

  async must(folder: string, ...words: string[]): Promise<string> {
    const { code, out } = await this.git(folder, ...words);
    if (code !== 0) throw new Error(`git ${words.join(" ")}: ${out}\n${this.logged.join("")}`);
    return out.trim();
  }

  async clone(name = "app", ...words: string[]): Promise<string> {
    const path = join(this.folder, `work-${++this.#work}`);
    await this.must(this.folder, "clone", "-q", ...words, this.url(name), path);
    return path;
  }

  /** Writes files and commits them. */
  async commit(
    folder: string,
    files: Readonly<Record<string, string | Buffer>>,
    message = "a change",
  ): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    await this.must(folder, "add", "-A");
    await this.must(folder, "commit", "-q", "--allow-empty", "-m", message);
    return await this.must(folder, "rev-parse", "HEAD");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((done) => this.#listener?.close(done));
    await this.web[Symbol.asyncDispose]();
    await removeTree(this.folder);
  }
}
