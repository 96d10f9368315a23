import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findBottleRoutes, prepareBottleRoutes } from "./bottle-routes.ts";
import { manifestFiles } from "./manifest-files.ts";

let home: string;
const write = (name: string, yaml: string) =>
  writeFileSync(join(home, "bottles", `${name}.md`), `---\n${yaml}\n---\n\nText.\n`);
const routesOf = (name: string) => manifestFiles(home, home).bottle(name).egress?.routes;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cloche-bottle-routes-"));
  mkdirSync(join(home, "bottles"));
});
afterEach(() => rmSync(home, { recursive: true }));

it("writes a route into the bottle's file, over what its parents have for the host", async () => {
  write("base", "egress: { routes: [{ host: a.test, connect: 127.0.0.1:8443, matches: [{ methods: [GET] }] }] }");
  write("dev", "extends: base\nenv: { A: b } # kept");
  await prepareBottleRoutes(home, "dev", [{ host: "a.test", matches: [{ methods: ["POST"] }] }])();
  expect(routesOf("dev")).toEqual([
    { host: "a.test", connect: "127.0.0.1:8443", matches: [{ methods: ["GET"] }, { methods: ["POST"] }] },
  ]);
  const text = readFileSync(join(home, "bottles", "dev.md"), "utf8");
  expect(text).toContain("# kept");
  expect(text).toContain("Text.");
  expect(findBottleRoutes(home, "dev", [{ host: "a.test" }])?.routes).toHaveLength(1);
});

it("puts it before a wider route of the same file, and refuses one that a parent's would hide", async () => {
  write("wide", "egress: { routes: [{ host: '*.a.test', matches: [{ methods: [GET] }] }] }");
  await prepareBottleRoutes(home, "wide", [{ host: "b.a.test", matches: [{ methods: ["POST"] }] }])();
  expect(routesOf("wide")?.map(({ host }) => host)).toEqual(["b.a.test", "*.a.test"]);
  write("wide", "egress: { routes: [{ host: '*.a.test', ports: [443] }] }");
  write("child", "extends: wide");
  expect(() => prepareBottleRoutes(home, "child", [{ host: "b.a.test" }])).toThrow(/never be used/);
});

it("leaves the file as it was written where nothing is added", async () => {
  write("dev", "egress:   { routes: [{host: a.test,   matches: [{ methods: [GET] }]}, { host: '*.b.test' }] }");
  const file = join(home, "bottles", "dev.md");
  const [text, { ino }] = [readFileSync(file, "utf8"), statSync(file)];
  const undo = await prepareBottleRoutes(home, "dev", [
    { host: "a.test", ports: [443], matches: [{ methods: ["GET"] }] },
    { host: "c.b.test" },
  ])();
  await undo();
  expect([readFileSync(file, "utf8"), statSync(file).ino]).toEqual([text, ino]);
});

it("knows no bottle that is broken or not there", () => {
  write("broken", "egress: 7");
  expect(findBottleRoutes(home, "broken", [{ host: "a.test" }])).toBeUndefined();
  expect(findBottleRoutes(home, "missing", [{ host: "a.test" }])).toBeUndefined();
});
