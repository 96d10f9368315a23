import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { afterAll, beforeAll, expect, it } from "vitest";

/** The importing thread exists only in compiled form, so this compiles what it needs and runs it in a Node of its own. */
let base: string;
const source = dirname(dirname(fileURLToPath(import.meta.url)));

beforeAll(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-thread-"));
  fs.symlinkSync(join(dirname(source), "node_modules"), join(base, "node_modules"));
  fs.writeFileSync(join(base, "package.json"), '{"type":"module"}');
  for (const folder of ["base", "model", "seeds"]) {
    fs.mkdirSync(join(base, "dist", folder), { recursive: true });
    for (const name of fs.readdirSync(join(source, folder)).filter((file) => /(?<!\.test)\.ts$/.test(file))) {
      const compilerOptions = {
        module: ModuleKind.ESNext,
        target: ScriptTarget.ES2023,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      };
      const { outputText } = transpileModule(fs.readFileSync(join(source, folder, name), "utf8"), { compilerOptions });
      fs.writeFileSync(join(base, "dist", folder, `${basename(name, ".ts")}.js`), outputText);
    }
  }
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

it("imports in a thread while the first one stays free, passes errors on, and can be stopped", () => {
  const project = join(base, "project");
  fs.mkdirSync(project);
  for (let index = 0; index < 3000; index += 1) fs.writeFileSync(join(project, `f${index}`), "x");
  const script = `
    import { createSeeds } from "./dist/seeds/create-seeds.js";
    import { currentIdMap } from "./dist/base/id-map.js";
    import { silentLog } from "./dist/base/log.js";
    import { readdirSync } from "node:fs";
    const seeds = createSeeds({ cachePath: ${JSON.stringify(join(base, "cache"))}, idMap: currentIdMap(), log: silentLog });
    const project = ${JSON.stringify(project)};
    const stopping = new AbortController();
    const stop = ({ step }) => step.startsWith("Importing") && stopping.abort();
    const stopped = await seeds.import(project, { signal: stopping.signal, progress: stop }).catch((error) => error.code);
    const left = readdirSync(${JSON.stringify(join(base, "cache", "seeds"))});
    let ticks = 0;
    const timer = setInterval(() => { ticks += 1; }, 1);
    const steps = [];
    const { tree } = await seeds.import(project, { progress: ({ step }) => steps.push(step) });
    clearInterval(timer);
    const broken = ${JSON.stringify(join(base, "broken.tar"))};
    const { code, hint } = await seeds.import(broken, {}).catch((error) => error);
    console.log(JSON.stringify({ stopped, left, files: readdirSync(tree).length, ticks, steps: steps.length, code, hint }));
  `;
  fs.writeFileSync(join(base, "broken.tar"), "no archive");
  fs.writeFileSync(join(base, "main.js"), script);
  const out = JSON.parse(execFileSync(process.execPath, ["main.js"], { cwd: base, encoding: "utf8" })) as Record<
    string,
    unknown
  >;
  expect(out).toMatchObject({ stopped: "CANCELLED", left: [], files: 3000, code: "SEED_INVALID" });
  expect(out["hint"]).toContain(".tar.gz");
  expect(out["steps"]).toBeGreaterThan(2);
  expect(out["ticks"]).toBeGreaterThan(10);
}, 30_000);
