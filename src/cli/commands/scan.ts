import type { ScanFinding, ScanReport } from "../../scan/scan-finding.ts";
import { runScan } from "../../scan/run-scan.ts";
import { defineCommand } from "../command.ts";
import { formatBytes } from "../output/bytes.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable } from "../output/table.ts";

export const command = defineCommand({
  words: ["scan"],
  summary: "Find secrets in a folder, a file or a range of commits",
  description:
    "Looks for tokens of common providers and for private keys, also where they are encoded, with the detectors of the egress gate. A range of commits is one of the repository in the current folder: every version of every file in it, their paths, and the messages. A finding says where and by which rule, never what; its fingerprint is the same for the same secret in every file. Links are not followed, and folders named .git are left out. Exits with 1 when something was found.",
  positionals: [
    { name: "PATH|RANGE", description: "A folder, a file, or A..B: what is in B and not in A", completes: "host-path" },
  ],
  options: {},
  examples: ["cloche scan .", "cloche scan main..HEAD", "cloche scan src --json | jq '.findings[].rule'"],
  async run(context) {
    const report = await runScan(context.argument("PATH|RANGE"), context.io.cwd, context.onProgress);
    await context.print(report, () => {
      const { bold, green, red } = context.colours;
      const verdict = report.finding_count === 0 ? green("Nothing found") : red(bold(`${report.finding_count} found`));
      return [...table(report, context.layout), `${verdict} in ${extent(report)}`].join("\n");
    });
    for (const { file, reason } of report.skipped.slice(0, 10)) context.note(`note: Not read: ${file}: ${reason}`);
    if (report.skipped.length > 10) context.note(`note: ${report.skipped.length - 10} more were not read; see --json`);
    return report.finding_count === 0 ? 0 : 1;
  },
});

function table({ findings, truncated, kind }: ScanReport, layout: Parameters<typeof formatTable>[2]): string[] {
  if (findings.length === 0) return [];
  const header = ["RULE", ...(kind === "range" ? ["COMMIT"] : []), "FINGERPRINT", "WHERE"];
  const rows = findings.map((one) =>
    [
      one.rule,
      ...(kind === "range" ? [one.commit?.slice(0, 12) ?? "-"] : []),
      one.fingerprint, // whole: `allow_findings` takes no other
      where(one),
    ].map(escapeName),
  );
  return [...formatTable(header, rows, layout), ...(truncated ? ["and more, which are not listed"] : []), ""];
}

function where({ file, line, column, place, view }: ScanFinding): string {
  const written = view === "raw" ? "" : ` (${view})`;
  if (place === "message") return `the commit's message, line ${line}${written}`;
  return place === "path" ? `the path ${file ?? ""}${written}` : `${file ?? ""}:${line}:${column}${written}`;
}

function extent({ file_count: files, byte_count: bytes, commit_count: commits, kind }: ScanReport): string {
  const inCommits = kind === "range" ? `${commits} commit${commits === 1 ? "" : "s"}, ` : "";
  return `${inCommits}${files} file${files === 1 ? "" : "s"}, ${formatBytes(bytes)}`;
}
