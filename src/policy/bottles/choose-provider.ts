import type { AgentProvider } from "../../model/bottle.ts";
import type { AgentSource } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { ProviderChoice } from "../../model/provider.ts";

/** Where no bottle says which. */
export const DEFAULT_PROVIDER = "claude";

export interface ChosenProvider {
  readonly template: string;
  readonly choice: ProviderChoice;
}

/** What a bottle says about its agent, whoever works in it. */
export const providerOf = (ofBottle: AgentProvider | undefined): ChosenProvider => ({
  template: ofBottle?.template ?? DEFAULT_PROVIDER,
  choice: { auth_token: ofBottle?.auth_token ?? null, settings: ofBottle?.settings ?? {} },
});

/**
 * The bottle's, unless the agent names another; the bottle's credential and settings belong to the bottle's alone.
 *
 * SECURITY: a provider brings routes, so an agent of a repository may name the bottle's only (G-60)
 */
export function chooseProvider(
  ofBottle: AgentProvider | undefined,
  agent: { readonly name: string; readonly source: AgentSource; readonly provider: string | undefined },
): ChosenProvider {
  const own = providerOf(ofBottle);
  const { template } = own;
  if (agent.provider === undefined || agent.provider === template) return own;
  if (agent.source === "project") {
    throw failure(
      "MANIFEST_INVALID",
      `Agent "${agent.name}" of the project asks for provider "${agent.provider}", and its bottle is for "${template}"`,
      {
        hint: "A project cannot choose what its agents reach: leave `provider` out, or name a bottle for that provider",
      },
    );
  }
  return { template: agent.provider, choice: { auth_token: null, settings: {} } };
}
