import { expect, it } from "vitest";
import { parse } from "yaml";
import { Config, DEFAULTS } from "../../src/model/config.ts";
import { CONTRACT_VARIABLES } from "./public-names.ts";
import { Limits } from "../../src/model/workspace.ts";
import { findFences } from "./markdown.ts";
import { readProjectFile } from "./project-files.ts";

const page = readProjectFile("docs/configuration.md");

/** First and second cell of the rows below a heading, without their backticks. */
function rowsBelow(heading: string): Map<string, string> {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (?:`([^`]+)`)?/gm)];
  return new Map(rows.map(([, name = "", value = ""]) => [name, value]));
}

it("docs/configuration.md has every key of config.yaml with its default", () => {
  const own = Object.keys(Config.shape).filter((key) => !["limits", "mcp", "egress"].includes(key));
  const keys = [
    ...own,
    "mcp.port",
    "egress.proxy",
    "egress.ca",
    ...Object.keys(Limits.shape).map((key) => `limits.${key}`),
  ];
  const rows = rowsBelow("config.yaml");
  expect([...rows.keys()].toSorted()).toEqual(keys.toSorted());
  const defaults: Readonly<Record<string, string | number | undefined>> = DEFAULTS;
  for (const [key, shown] of rows) expect(shown, key).toBe(String(defaults[key.replace("limits.", "")] ?? ""));
});

it("docs/configuration.md has an example that is valid and not all defaults", () => {
  const [example] = findFences(page).filter(({ language }) => language === "yaml");
  expect(Config.safeParse(parse(example?.text ?? ""))).toMatchObject({ success: true, data: { ttl_seconds: 7200 } });
});

it("docs/configuration.md has every variable", () => {
  expect([...rowsBelow("Variables").keys()].toSorted()).toEqual([...CONTRACT_VARIABLES].toSorted());
});
