import { expect, it } from "vitest";
import { editRoutes } from "./edit-routes.ts";
import { parseFrontMatter } from "./front-matter.ts";

const file = `---
# Whose it is
environment: debian:12 # why
egress:
  log: all
  routes:
    - host: a.test # the first
    - { host: b.test, ports: [443] }
---

Body --- with
---
a line.
`;
const routesIn = (text: string) =>
  (parseFrontMatter(text) as { value: { egress?: { routes?: unknown } } }).value.egress?.routes;

it("changes routes and nothing else: comments, order of keys and the body stay", () => {
  const next = editRoutes(file, [{ host: "a.test" }, { host: "c.test" }, { host: "b.test", ports: [443, 80] }]);
  expect(routesIn(next)).toEqual([{ host: "a.test" }, { host: "c.test" }, { host: "b.test", ports: [443, 80] }]);
  for (const kept of [
    "# Whose it is",
    "environment: debian:12 # why",
    "- host: a.test # the first",
    "log: all",
    "Body --- with\n---\na line.\n",
  ])
    expect(next).toContain(kept);
});

it("adds routes to a bottle that has none, or nothing at all", () => {
  const routes = [{ host: "a.test" }];
  expect(routesIn(editRoutes("---\n---\nText\n", routes))).toEqual(routes);
  expect(routesIn(editRoutes("---\nenv: { A: b }\n---\n", routes))).toEqual(routes);
  expect(routesIn(editRoutes("---\negress:\n  log: off\n---\n", routes))).toEqual(routes);
});

it.each([
  "---\nenv: {A: b}\nagent_provider: {settings: {argv: [sh, -c]}}\n",
  "---\nenv: { A: b }\nagent_provider: { settings: { argv: [ sh, -c ] } }\n",
])("leaves spaces within brackets as they are: %j", (yaml) => {
  expect(editRoutes(`${yaml}---\n`, [{ host: "a.test" }]).startsWith(yaml)).toBe(true);
});
