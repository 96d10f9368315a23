import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { ReportProgress } from "../model/progress.ts";
import { scanPath } from "./folder-scan.ts";
import { isRange, scanRange } from "./range-scan.ts";
import type { ScanReport } from "./scan-finding.ts";
import { ScanJob } from "./scan-job.ts";

const REPORT_EVERY_MS = 100;

/** Looks for secrets in a folder, a file, or a range of commits of the repository in `cwd`. */
export async function runScan(target: string, cwd: string, onProgress: ReportProgress): Promise<ScanReport> {
  let last = 0;
  const job = new ScanJob(({ files, commits, bytes, found }) => {
    const now = performance.now();
    if (now - last < REPORT_EVERY_MS) return;
    last = now;
    const what = [
      ...(commits > 0 ? [`${commits} commits`] : []),
      `${files} files`,
      `${Math.round(bytes / 1e6)} MB`,
      ...(found > 0 ? [`${found} found`] : []),
    ];
    onProgress({ step: `scanning ${target}: ${what.join(", ")}` });
  });
  const path = resolve(cwd, target);
  if (isRange(target) && !(await exists(path))) {
    await scanRange(job, target, cwd);
    return job.report(target, "range");
  }
  try {
    return job.report(target, await scanPath(job, path));
  } catch (error) {
    const reason = errnoOf(error) === "ENOENT" ? "there is no such file or folder" : messageOf(error);
    throw failure("INVALID_ARGUMENT", `Cannot scan "${target}": ${reason}`, {
      hint: "Name a folder, a file, or a range of commits as A..B",
    });
  }
}

const exists = async (path: string): Promise<boolean> =>
  await lstat(path).then(
    () => true,
    () => false,
  );
