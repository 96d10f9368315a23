import { join } from "node:path";
import { expect } from "vitest";
import { contentHash, hashOf } from "../../src/policy/supervise/content-hash.ts";
import type { Cloche } from "../../src/sdk/cloche.ts";
import { openStore } from "../../src/store/open-store.ts";
import { eventually } from "./installation.ts";

type Store = Exclude<ReturnType<typeof openStore>, "locked">;

/** A question for another environment that no gate lets through for this run, as an older daemon may have written it down. Ends the daemon, who has the store. */
export async function insertCapabilityBlock(
  { sdk, home }: { readonly sdk: Cloche; readonly home: string },
  run: { readonly identity: string; readonly workspace_id: string; readonly environment: string },
): Promise<string> {
  await sdk.stopDaemon();
  let store: Store | undefined;
  await eventually(() => {
    const opened = openStore(join(home, "store.sqlite"));
    expect(opened).not.toBe("locked");
    store = opened as Store;
  });
  const { environment, ...whose } = run;
  const proposal_id = "p-0000000000";
  const proposed = { packages: ["jq"] };
  const now = Date.now() / 1000;
  store?.putProposal({
    ...whose,
    ...{ proposal_id, proposed, kind: "capability-block", status: "pending", justification: "to try" },
    ...{ agent_name: "any", bottle_names: [], adds: "", command: null, created_at: now, expires_at: now + 3600 },
    ...{ decided_at: null, decided_by: null, reason: null, scope: null, ask_ids: [proposal_id], valid_until: null },
    content_hash: contentHash("capability-block", proposed),
    current_hash: hashOf({ environment, changes: [] }),
  });
  store?.close();
  return proposal_id;
}
