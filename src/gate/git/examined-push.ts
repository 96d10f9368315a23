import type { GateIdentity, GateRepo } from "../../model/git-order.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import type { PushCommand } from "../../policy/git/push-commands.ts";
import type { HostGit } from "./host-git.ts";
import type { Quarantine } from "./quarantine.ts";

/** A push that lies in quarantine, and what it is looked at with. */
export interface Examined {
  readonly git: HostGit;
  readonly quarantine: Quarantine;
  readonly repo: GateRepo;
  readonly commands: readonly PushCommand[];
  readonly options: readonly string[];
  readonly scan: Scan;
  readonly identity: GateIdentity | null;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}
