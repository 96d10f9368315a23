import type { PushFacts } from "../../policy/git/push-digest.ts";

/** A push that the rules refuse, and that somebody may let pass. */
export interface HeldPush extends PushFacts {
  /** What an approval is bound to (`push-digest.ts`). */
  readonly digest: string;
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

/** Has a push wait for an answer without the place that it works at; undefined when too many wait already. */
export type Hold = <Answer>(waiting: () => Promise<Answer>) => Promise<Answer | undefined>;

/** Nobody decides: such a push is refused. */
export const NOBODY: HeldPushes = {
  decide: () => Promise.resolve({ isApproved: false, reason: null }),
};
