import { expect, it } from "vitest";
import { NETWORK_POLICIES } from "../model/vocabulary.ts";
import { publishesPorts } from "./network-policies.ts";
import { networkSettings } from "./offline-settings.ts";

it("published-ports and its old name mean the same", () => {
  expect(NETWORK_POLICIES.filter(publishesPorts)).toEqual(["published-ports", "egress+published-ports"]);
});

it("networkSettings tell tools to try once, or where the way out is", () => {
  expect(Object.keys(networkSettings(false))).toContain("npm_config_fetch_retries");
  expect(Object.keys(networkSettings(true))).not.toContain("npm_config_fetch_retries");
  expect(Object.keys(networkSettings(true))).toContain("https_proxy");
});
