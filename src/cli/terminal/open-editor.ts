import { spawn } from "node:child_process";
import { once } from "node:events";
import { failure } from "../../model/error-codes.ts";
import type { CliIo } from "../io.ts";

/** What a shell ends with when there is no such program. */
const NOT_FOUND = 127;

/** Opens a file in the user's editor, at their terminal, until they leave it. As git does it: the words of the variable are a shell's. */
export async function openEditor({ env }: Pick<CliIo, "env">, path: string): Promise<void> {
  const editor = env["VISUAL"] || env["EDITOR"] || "vi";
  const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit", env });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 0) return;
  throw failure("INVALID_ARGUMENT", `The editor "${editor}" ended with ${code ?? "a signal"}`, {
    hint:
      code === NOT_FOUND
        ? "Set EDITOR to one that is there"
        : "What it saved is in the file, and was not checked: run the command again",
  });
}
