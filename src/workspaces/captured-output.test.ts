import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBudget } from "../base/byte-budget.ts";
import { CapturedOutput } from "./captured-output.ts";

describe("CapturedOutput", () => {
  it("keeps everything up to the cap", () => {
    const output = new CapturedOutput(10);
    for (const text of ["01", "234", "56789"]) output.add(Buffer.from(text));
    expect(output.text().text).toBe("0123456789");
    expect(output.text().truncated).toBe(false);
  });

  it("keeps the first and the last bytes of more, and says how much is missing", () => {
    const output = new CapturedOutput(10);
    output.add(Buffer.from("abcdefghijklmnopqrstuvwxyz"));
    expect(output.text().text).toBe("abcde\n[… 16 bytes left out …]\nvwxyz");
    expect(output.text().truncated).toBe(true);
  });

  it("gives the same for any chunking", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 30, unit: "binary-ascii" }), { maxLength: 40 }),
        fc.integer({ min: 2, max: 60 }),
        (chunks, cap) => {
          const whole = new CapturedOutput(cap);
          whole.add(Buffer.from(chunks.join("")));
          const parts = new CapturedOutput(cap);
          for (const chunk of chunks) parts.add(Buffer.from(chunk));
          expect(parts.text()).toEqual(whole.text());
          expect(whole.text().truncated).toBe(whole.text().text.includes("left out"));
        },
      ),
    );
  });

  it("takes what it keeps out of a budget that others share, and keeps less when that is empty (G-25)", () => {
    const budget = new ByteBudget(1024 * 1024);
    const outputs = Array.from({ length: 200 }, () => new CapturedOutput(1024 * 1024, budget));
    const line = Buffer.from(`${"x".repeat(1023)}\n`);
    for (let round = 0; round < 300; round++) for (const output of outputs) output.add(line);
    expect(budget.taken).toBeLessThanOrEqual(1024 * 1024);
    const texts = outputs.map((output) => output.text().text);
    expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(1024 * 1024 + 200 * 12_000);
    for (const [at, text] of texts.entries()) {
      expect(outputs[at]?.text().truncated).toBe(text.includes("left out"));
      expect(text.length).toBeGreaterThan(2000);
      expect(text.endsWith("xxx\n")).toBe(true);
    }
    for (const output of outputs) output.release();
    expect(budget.taken).toBe(0);
  });

  it("keeps less of what has more bytes in JSON", () => {
    const output = new CapturedOutput(2000);
    output.add(Buffer.alloc(1500, 1));
    const { text, truncated } = output.text(3000);
    expect(truncated).toBe(true);
    const kept = "\u0001".repeat(249);
    expect(text).toBe(`${kept}\n[… 1002 bytes left out …]\n${kept}`);
    expect(JSON.stringify(text).length).toBeLessThan(3100);
  });
});
