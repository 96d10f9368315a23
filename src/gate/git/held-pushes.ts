import type { PushFailure } from "../../policy/git/push-failure.ts";
import type { PushCommand } from "../../policy/git/push-commands.ts";

/** A push that the rules refuse, and that somebody may let pass. */
export interface HeldPush {
  readonly repo: string;
  /** What an approval is bound to (`push-digest.ts`). */
  readonly digest: string;
  readonly commands: readonly PushCommand[];
  readonly failures: readonly PushFailure[];
}

/** Who decides about held pushes. */
export interface HeldPushes {
  /**
   * Resolves when it is decided; `say` reaches the client meanwhile, which goes away when it gives up. An approval that comes later is for the same digest, once.
   */
  decide(
    push: HeldPush,
    say: (text: string) => void,
    gone: AbortSignal,
  ): Promise<{ readonly isApproved: boolean; readonly reason: string | null }>;
}

/** Nobody decides: such a push is refused. */
export const NOBODY: HeldPushes = {
  decide: () => Promise.resolve({ isApproved: false, reason: null }),
};
