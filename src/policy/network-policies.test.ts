import { expect, it } from "vitest";
import { NETWORK_POLICIES } from "../model/vocabulary.ts";
import { hasEgress, publishesPorts } from "./network-policies.ts";
import { networkSettings } from "./offline-settings.ts";

it("published-ports and its old name mean the same", () => {
  expect(NETWORK_POLICIES.filter(publishesPorts)).toEqual(["published-ports", "egress+published-ports"]);
  expect(NETWORK_POLICIES.filter(hasEgress)).toEqual(["egress"]);
});

it("networkSettings are for workspaces without a way out", () => {
  for (const policy of NETWORK_POLICIES)
    expect("npm_config_fetch_retries" in networkSettings(policy)).toBe(!hasEgress(policy));
});
