import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript-api";
import { afterAll, beforeAll, expect, it } from "vitest";

/** The rendering thread exists only in compiled form, so this compiles what it needs and runs it in a Node of its own. */
let base: string;
const source = dirname(fileURLToPath(import.meta.url));

beforeAll(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-render-"));
  fs.symlinkSync(join(source, "../../../node_modules"), join(base, "node_modules"));
  fs.writeFileSync(join(base, "package.json"), '{"type":"module"}');
  for (const name of ["plain-renderer", "render-plain", "render-thread"]) {
    const { outputText } = transpileModule(fs.readFileSync(join(source, `${name}.ts`), "utf8"), {
      compilerOptions: {
        module: ModuleKind.ESNext,
        target: ScriptTarget.ES2023,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    fs.writeFileSync(join(base, `${name}.js`), outputText);
  }
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

it("renders in a thread that is ended when it takes too long, serves the next request, and keeps nobody waiting", () => {
  fs.writeFileSync(
    join(base, "main.js"),
    `
    import { PlainRenderer } from "./plain-renderer.js";
    const renderer = new PlainRenderer(3000); // far more than a thread needs to start beside other work
    const render = (shown) => renderer.render({ before: Buffer.alloc(0), shown: Buffer.from(shown), cols: 1000, rows: 1000 });
    const ordinary = await Promise.all([render("one\\rtwo"), render("bed\\b\\b\\brED")]);
    let ticks = 0;
    const timer = setInterval(() => { ticks += 1; }, 10);
    const hostile = await render("a\\r\\n" + "\\x1b[1000S".repeat(400_000) + "b\\x07");
    clearInterval(timer);
    const next = await render("still\\bL here");
    console.log(JSON.stringify({ ordinary, hostile, ticks, next }));
  `,
  );
  const answer = execFileSync(process.execPath, ["main.js"], { cwd: base, encoding: "utf8", timeout: 30_000 });
  const { ordinary, hostile, ticks, next } = JSON.parse(answer) as Record<string, unknown>;
  expect(ordinary).toEqual([
    { text: "two", lost: false },
    { text: "rED", lost: false },
  ]);
  expect(hostile).toEqual({ text: "a\nb", lost: false });
  expect(ticks).toBeGreaterThan(10);
  expect(next).toEqual({ text: "stilL here", lost: false });
});
