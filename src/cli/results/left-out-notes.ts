import type { LeftOut } from "../../model/seed-content.ts";
import type { WorkspaceSeed } from "../../model/workspace.ts";
import type { Context } from "../command.ts";
import { formatBytes } from "../output/bytes.ts";

/** Says on stderr what of a project stayed at home, how to bring it, and which secrets came. */
export function noteSeed(context: Pick<Context, "json" | "note">, { left_out: left, included }: WorkspaceSeed): void {
  if (context.json) return;
  const note = (text: string) => context.note(`note: ${text}`);
  if (included === null) {
    if (left !== null) noteLeftOut(context, left);
    return;
  }
  for (const glob of included.unmatched) note(`--include ${glob} matched nothing that git ignores`);
  if (included.secret_count > 0)
    note(`${listed(included.secrets, included.secret_count)} came along, which may hold secrets`);
  if (left !== null && left.secret_count > 0) {
    note(
      `${listed(left.secrets, left.secret_count)} stayed at home, which may hold secrets; name it to bring it: --include ${left.secrets[0] ?? ""}`,
    );
  }
}

export function noteLeftOut(context: Pick<Context, "json" | "note">, left: LeftOut, remembers = true): void {
  if (context.json || left.entries === 0) return;
  const shown = left.largest.slice(0, 3);
  const more = left.entries - shown.length;
  const parts = shown.map(({ path, files, size_bytes: bytes, is_complete: all }) => {
    if (!path.endsWith("/")) return path;
    const count = `${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}, ${formatBytes(bytes)}`;
    return `${path} (${all ? count : `more than ${count}`})`;
  });
  context.note(`note: what git ignores stayed at home: ${parts.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
  // What is named to be brought is typed as it stands here: so no name that may be one of secrets, such as `.env` or `key.pem`.
  const folder = left.largest.find(({ path }) => path.endsWith("/") && !/(^|\/)\./.test(path));
  const example = `--include ${folder?.path.replace(/\/$/, "") ?? "GLOB"} brings a part of it, `;
  context.note(
    `note: ${example}--include-ignored all of it but for files with secrets${remembers ? "; --remember does so from now on" : ""}`,
  );
}

const listed = (paths: readonly string[], count: number): string => {
  const shown = paths.slice(0, 3);
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
};
