import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript-api";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import type { ReportProgress } from "../model/progress.ts";
import { ImportThreads } from "./import-threads.ts";

/** The importing thread exists only in compiled form, so this compiles what it needs and runs it in a Node of its own. */
let base: string;
const source = dirname(dirname(fileURLToPath(import.meta.url)));

beforeAll(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-thread-"));
  fs.symlinkSync(join(dirname(source), "node_modules"), join(base, "node_modules"));
  fs.writeFileSync(join(base, "package.json"), '{"type":"module"}');
  fs.symlinkSync(join(source, "../build"), join(base, "build")); // the program that copies
  for (const folder of ["base", "git", "model", "model/operations", "policy", "seeds", "walls"]) {
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

describe("the thread that is kept", () => {
  let started: Worker[];
  let ended: Promise<number>[];
  let project: string;
  const never = new AbortController().signal;

  beforeEach(() => {
    started = [];
    ended = [];
    project = fs.mkdtempSync(join(base, "kept-"));
    for (let index = 0; index < 50; index += 1) fs.writeFileSync(join(project, `f${index}`), "x");
  });
  afterEach(() => Promise.all(started.map((worker) => worker.terminate())));

  function threadsFor(idleMs: number): ImportThreads {
    const start = () => {
      const worker = new Worker(join(base, "dist", "seeds", "import-worker.js"));
      started.push(worker);
      ended.push(new Promise((resolve) => worker.once("exit", resolve)));
      return worker;
    };
    return new ImportThreads({ start, idleMs });
  }

  function request(seedPath = project, kind: "directory" | "tar_archive" = "directory") {
    const owner = { kind: currentIdMap().kind, ...currentIdMap().toHost(1000, 1000) };
    return { cachePath: join(base, "kept-cache"), seedPath, kind, owner };
  }
  const quiet: ReportProgress = () => undefined;

  it("imports one project after the other", async () => {
    const threads = threadsFor(60_000);
    const first = await threads.run(request(), quiet, never);
    fs.writeFileSync(join(project, "more"), "x");
    const second = await threads.run(request(), quiet, never);
    expect(fs.readdirSync(first.tree)).toHaveLength(50);
    expect(fs.readdirSync(second.tree)).toHaveLength(51);
    expect(started).toHaveLength(1);
  });

  /** Copying it takes long enough for a word from outside to come in between. */
  function largeProject(): string {
    const large = fs.mkdtempSync(join(base, "kept-large-"));
    for (let index = 0; index < 3000; index += 1) fs.writeFileSync(join(large, `f${index}`), "x");
    return large;
  }

  it("goes on after an import that was stopped, and after one that failed", async () => {
    const threads = threadsFor(60_000);
    const stopping = new AbortController();
    const stop: ReportProgress = () => stopping.abort();
    await expect(threads.run(request(largeProject()), stop, stopping.signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await expect(threads.run(request(), quiet, AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" });
    const broken = join(base, "kept-broken.tar");
    fs.writeFileSync(broken, "no archive");
    const failed = threads.run(request(broken, "tar_archive"), quiet, never);
    await expect(failed).rejects.toMatchObject({ code: "SEED_INVALID" });
    const { tree } = await threads.run(request(), quiet, never);
    expect(fs.readdirSync(tree)).toHaveLength(50);
    expect(started).toHaveLength(1);
  });

  it("is replaced after a fault in the program, and after it ended by itself", async () => {
    const threads = threadsFor(60_000);
    const faulty = { ...request(), owner: null } as unknown as ReturnType<typeof request>;
    await expect(threads.run(faulty, quiet, never)).rejects.toThrow("TypeError");
    await ended[0];
    await threads.run(request(), quiet, never);
    expect(started).toHaveLength(2);
    await started[1]?.terminate();
    await threads.run(request(), quiet, never);
    expect(started).toHaveLength(3);
    const killed = threads.run(request(largeProject()), () => void started[2]?.terminate(), never);
    await expect(killed).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("does not keep an import waiting that comes meanwhile, and only one stays", async () => {
    const threads = threadsFor(60_000);
    const other = fs.mkdtempSync(join(base, "kept-other-"));
    await Promise.all([threads.run(request(), quiet, never), threads.run(request(other), quiet, never)]);
    expect(started).toHaveLength(2);
    await Promise.race(ended);
    await threads.run(request(), quiet, never);
    expect(started).toHaveLength(2);
  });

  it("ends when nothing was imported for a while", async () => {
    const threads = threadsFor(1);
    await threads.run(request(), quiet, never);
    const hold = setInterval(() => undefined, 1000); // neither thread nor timer holds the process
    await ended[0];
    clearInterval(hold);
    await threads.run(request(), quiet, never);
    expect(started).toHaveLength(2);
  });
});
