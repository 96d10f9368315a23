import type { Log } from "../../base/log.ts";
import type { PushEvent } from "../../model/gate-control.ts";
import type { GateRepo, GitOrder } from "../../model/git-order.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import type { ReachProgram } from "../host-connections.ts";
import type { HeldPushes } from "./held-pushes.ts";
import type { HostGit } from "./host-git.ts";
import type { Mirror } from "./mirror.ts";
import type { Upstream } from "./upstream.ts";

/** A repository that a door serves. */
export interface ServedRepo {
  readonly repo: GateRepo;
  readonly mirror: Mirror;
  readonly upstream: Upstream;
}

/** What everything at a git door uses. */
export interface GitContext {
  readonly git: HostGit;
  readonly log: Log;
  readonly order: () => GitOrder | undefined;
  readonly find: (name: string) => ServedRepo | undefined;
  readonly names: () => readonly string[];
  /** Every known value, and every rule. */
  readonly scan: () => Scan;
  readonly quarantine: () => string;
  readonly held: HeldPushes;
  readonly reach: ReachProgram;
  readonly tell: (event: PushEvent) => void;
  /** The key of the bottle was used. */
  readonly onSigned: () => void;
}
