import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { Log } from "../../base/log.ts";
import { messageOf } from "../../base/errors.ts";
import type { EgressOrder } from "../../model/egress-order.ts";
import type { GateRepo, GitOrder } from "../../model/git-order.ts";
import { createDetector } from "../../policy/dlp/create-detector.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import { askedOf } from "../../policy/git/web-place.ts";
import { doorUrl } from "../../policy/git/sandbox-config.ts";
import type { ReachProgram } from "../host-connections.ts";
import type { Relayed } from "../relay-connection.ts";
import type { GitContext, ServedRepo } from "./git-context.ts";
import { GitDoor } from "./git-door.ts";
import { type HeldPushes, NOBODY } from "./held-pushes.ts";
import { HostGit } from "./host-git.ts";
import { Mirror } from "./mirror.ts";
import { Upstream } from "./upstream.ts";

/** What stands behind a git door. */
export class GitGate {
  readonly #git = new HostGit();
  readonly #log: Log;
  readonly #reach: ReachProgram;
  readonly #door: GitDoor;
  #order: GitOrder | undefined;
  #guarded: EgressOrder["guarded"] = [];
  #scan: Scan | undefined;
  #repos = new Map<string, ServedRepo>();

  constructor(log: Log, reach: ReachProgram, told: Pick<GitContext, "tell" | "onSigned">, held: HeldPushes = NOBODY) {
    this.#log = log;
    this.#reach = reach;
    this.#door = new GitDoor({
      git: this.#git,
      log,
      order: () => this.#order,
      find: (name) => this.#repos.get(name),
      names: () => [...this.#repos.keys()],
      scan: () => (this.#scan ??= this.#makeScan()),
      quarantine: () => join(this.#order?.folder ?? "", "quarantine"),
      held,
      reach,
      ...told,
    });
  }

  /** Values that must not leave; they are the egress door's. */
  guard(guarded: EgressOrder["guarded"]): void {
    this.#guarded = guarded;
    this.#scan = undefined;
  }

  /** From now on; what is under way keeps what it began with. */
  obey(order: GitOrder): void {
    const before = this.#repos;
    const isFirst = this.#order?.folder !== order.folder;
    this.#order = order;
    this.#scan = undefined;
    this.#repos = new Map(order.repos.map((repo) => [repo.name, this.#serve(order, repo, before.get(repo.name))]));
    void this.#prepare(order, isFirst);
  }

  /** Where a sandbox finds the repositories of a host, for people; undefined for a host without one. */
  doorsFor(host: string): string | undefined {
    const served = [...this.#repos.values()].filter(({ repo }) => repo.web?.host === host);
    if (served.length === 0) return undefined;
    return served.map(({ repo }) => `${repo.name} at ${doorUrl(repo.name)}`).join(", ");
  }

  /** Serves a request that was sent to the web's place of a repository; false when it is for something else. */
  serveAtHost(
    at: { host: string; port: number },
    target: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): boolean {
    for (const { repo } of this.#repos.values()) {
      const asked = repo.web ? askedOf(repo.web, at, target) : undefined;
      if (asked === undefined) continue;
      request.url = `/${repo.name}${asked}`;
      void this.#door.serve(request, response);
      return true;
    }
    return false;
  }

  accept(stream: Duplex): Relayed {
    this.#door.accept(stream);
    const over = new Promise<void>((done) => stream.once("close", done));
    return { over, destroy: () => stream.destroy() };
  }

  /** A text without what must not leave. */
  redact(text: string): string {
    return (this.#scan ??= this.#makeScan()).redactText("path", text).value;
  }

  #serve(order: GitOrder, repo: GateRepo, known: ServedRepo | undefined): ServedRepo {
    if (known && JSON.stringify(known.repo) === JSON.stringify(repo)) return known;
    const upstream = new Upstream(this.#git, repo, order, this.#reach);
    const place = { folder: join(order.folder, "mirrors"), name: repo.name, allowStale: repo.allow_stale };
    return { repo, upstream, mirror: new Mirror(this.#git, upstream, this.#log, place) };
  }

  /** What a gate before this one left half done goes, and nothing of this one: a push may wait there. Mirrors are filled ahead of the first clone. Never rejects. */
  async #prepare(order: GitOrder, isFirst: boolean): Promise<void> {
    try {
      mkdirSync(join(order.folder, "mirrors"), { recursive: true, mode: 0o700 });
      const quarantine = join(order.folder, "quarantine");
      if (isFirst && existsSync(quarantine))
        for (const name of readdirSync(quarantine)) await rm(join(quarantine, name), { recursive: true, force: true });
      mkdirSync(quarantine, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#log.error("the git gate has no folder", { reason: messageOf(error) });
    }
    await Promise.all(
      [...this.#repos.values()].map(({ mirror, repo }) =>
        mirror.refresh().catch((error: unknown) => {
          this.#log.warn("an upstream cannot be read", { repo: repo.name, reason: messageOf(error) });
        }),
      ),
    );
  }

  #makeScan(): Scan {
    const known = this.#guarded.map(({ kind, name, value }) => ({ detector: kind, name, value }));
    return createDetector({ known }).scope();
  }
}
