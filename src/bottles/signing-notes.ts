import { execFile } from "node:child_process";
import type { GitPolicy } from "../model/git-policy.ts";

const LONGEST_MS = 5000;

/** What is noticed about signatures before a start: the host signs commits of the project, and the bottle does not. Never rejects. */
export async function signingNotes(git: GitPolicy | undefined, project: string): Promise<string[]> {
  if (git?.signing || Object.keys(git?.repos ?? {}).length === 0 || !(await hostSigns(project))) return [];
  return [
    "Git on this host signs commits, and in the sandbox it does not: no key is there. With git.signing in the bottle the host signs what the agent commits.",
  ];
}

/** As the user's configuration and the project's say it. A value is read, and nothing else is done. */
async function hostSigns(project: string): Promise<boolean> {
  const words = ["-C", project, "config", "--type=bool", "--get-regexp", String.raw`^(commit|tag)\.gpgsign$`];
  return await new Promise((done) => {
    execFile("git", words, { timeout: LONGEST_MS, encoding: "utf8" }, (_error, stdout) => {
      // The last of several is in force.
      const last = new Map(
        stdout
          .trim()
          .split("\n")
          .map((line) => line.split(" ") as [string, string | undefined]),
      );
      done([...last.values()].includes("true"));
    });
  });
}
