import { StreamReader } from "../../base/stream-reader.ts";
import type { GateIdentity } from "../../model/git-order.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import type { TextFinding } from "../../policy/dlp/finding.ts";
import { WindowedScan } from "../../policy/dlp/windowed-scan.ts";
import { judgeAuthors } from "../../policy/git/author-rule.ts";
import type { PushFailure } from "../../policy/git/push-failure.ts";
import { TreeSizes } from "../../policy/git/tree-sizes.ts";
import type { HostGit } from "./host-git.ts";
import { MAX_CHANGES, MAX_UNPACKED_BYTES } from "./limits.ts";
import { PackRefused, type Quarantine } from "./quarantine.ts";

const NEWLINE = 0x0a;
const MAX_FINDINGS = 500;
const MAX_COMMIT_BYTES = 8 * 1024 * 1024;
const MAX_TREE_BYTES = 64 * 1024 * 1024;
const HEAD = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/;
const TYPES = ["blob", "tree", "commit", "tag"] as const;
const BLANK_LINE = Buffer.from("\n\n");

export interface ObjectFinding {
  readonly id: string;
  readonly type: "blob" | "commit" | "tag";
  readonly finding: TextFinding;
}

/** All that is in a pack, read once. */
export interface PushedObjects {
  readonly ids: readonly string[];
  readonly findings: readonly ObjectFinding[];
  readonly authors: readonly PushFailure[];
  /** Blobs above the size that the rules allow. */
  readonly large: ReadonlyMap<string, number>;
  readonly bytes: number;
}

export interface Looking {
  readonly scan: Scan;
  /** Who commits are to be by; null for anybody. */
  readonly identity: GateIdentity | null;
  readonly maxFileBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (objects: number, bytes: number) => void;
}

/**
 * Reads every object of a pack, whatever leads to it, and looks for secrets in each.
 *
 * SECURITY: the objects themselves, not what a diff or a log shows of them: binary files, files that were deleted again, texts behind a NUL (G-89)
 */
export async function lookAtObjects(git: HostGit, quarantine: Quarantine, looking: Looking): Promise<PushedObjects> {
  const words = ["cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch"];
  const running = git.start(words, { ...quarantine.alone, signal: looking.signal, input: "" });
  const reader = new StreamReader(running.stdout);
  const ids: string[] = [];
  const findings: ObjectFinding[] = [];
  const authors: PushFailure[] = [];
  const large = new Map<string, number>();
  const trees = new TreeSizes();
  let bytes = 0;
  try {
    for (;;) {
      const line = (await reader.until(NEWLINE, 256)).toString("latin1");
      if (line === "") {
        // SECURITY: an end that git did not mean is no end of what has to be looked at (G-89)
        if ((await running.ended).code !== 0) throw new PackRefused("git does not read it to its end");
        break;
      }
      const [, id = "", name, sizeText] = HEAD.exec(line) ?? [];
      const size = Number(sizeText);
      const type = TYPES.find((one) => one === name);
      if (type === undefined) throw new PackRefused("git does not read it");
      ids.push(id);
      bytes += size;
      if (bytes > MAX_UNPACKED_BYTES) throw new PackRefused("unpacked it is larger than the git gate takes");
      if (type === "blob") {
        if (size > looking.maxFileBytes) large.set(id, size);
        await lookAtBlob(reader, size, looking.scan, (finding) => {
          if (findings.length < MAX_FINDINGS) findings.push({ id, type, finding });
        });
      } else if (type === "tree") {
        if (size > MAX_TREE_BYTES) throw new PackRefused(`the tree ${id.slice(0, 12)} is too long`);
        trees.add(id, await readWhole(reader, size));
      } else {
        if (size > MAX_COMMIT_BYTES) throw new PackRefused(`the ${type} ${id.slice(0, 12)} is too long`);
        const content = await readWhole(reader, size);
        for (const finding of looking.scan.file("", messageFirst(content)))
          if (finding.severity === "high" && findings.length < MAX_FINDINGS) findings.push({ id, type, finding });
        if (type === "commit" && looking.identity) authors.push(...judgeAuthors(id, content, looking.identity));
      }
      await reader.byte(); // a newline of its own
      looking.onProgress(ids.length, bytes);
    }
  } finally {
    running.kill();
  }
  // SECURITY: a few trees that hold each other many times are more paths than there is memory for (G-87)
  if (trees.largest > MAX_CHANGES) throw new PackRefused(`a tree of it has more than ${MAX_CHANGES} paths`);
  return { ids, findings, authors, large, bytes };
}

async function lookAtBlob(
  reader: StreamReader,
  size: number,
  scan: Scan,
  found: (finding: TextFinding) => void,
): Promise<void> {
  const windows = new WindowedScan(scan, "", found);
  for (let left = size; left > 0;) {
    const part = await reader.some(left);
    if (!part) throw new PackRefused("git ended within an object");
    left -= part.length;
    windows.push(part);
  }
  windows.end();
}

async function readWhole(reader: StreamReader, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let left = size; left > 0;) {
    const part = await reader.some(left);
    if (!part) throw new PackRefused("git ended within an object");
    left -= part.length;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Lines are counted from the first of the message; who it is by comes last. */
function messageFirst(content: Buffer): Buffer {
  const border = content.indexOf(BLANK_LINE);
  if (border < 0) return content;
  return Buffer.concat([content.subarray(border + BLANK_LINE.length), BLANK_LINE, content.subarray(0, border)]);
}
