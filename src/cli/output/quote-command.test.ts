import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { quoteCommand } from "./quote-command.ts";

it("leaves a shell command as it is", () => {
  expect(quoteCommand("ls | wc -l")).toBe("ls | wc -l");
});

it("quotes an argv so that a shell gives the same words", () => {
  const argv = ["printf", "%s\\n", "plain", "", "two words", "it's", "$HOME `x` \\", "a\nb"];
  expect(execFileSync("sh", ["-c", quoteCommand(argv)]).toString()).toBe(`${argv.slice(2).join("\n")}\n`);
});
