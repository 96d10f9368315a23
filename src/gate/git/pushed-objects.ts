import { StreamReader } from "../../base/stream-reader.ts";
import type { GateIdentity } from "../../model/git-order.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import type { TextFinding } from "../../policy/dlp/finding.ts";
import { WindowedScan } from "../../policy/dlp/windowed-scan.ts";
import { judgeAuthors } from "../../policy/git/author-rule.ts";
import type { PushFailure } from "../../policy/git/push-failure.ts";
import { TreeSizes } from "../../policy/git/tree-sizes.ts";
import type { HostGit, RunningGit } from "./host-git.ts";
import { MAX_CHANGES, MAX_OBJECTS, MAX_UNPACKED_BYTES } from "./limits.ts";
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

/** All that a push brings, each object read once. */
export class PushedObjects {
  readonly ids = new Set<string>();
  readonly commits = new Set<string>();
  /** Without those that the operator allows; of very many the first. */
  readonly findings: ObjectFinding[] = [];
  /** Findings beyond those. */
  more = 0;
  readonly authors: PushFailure[] = [];
  /** Blobs above the size that the rules allow. */
  readonly large = new Map<string, number>();
  readonly trees = new TreeSizes();
  bytes = 0;
}

export interface Looking {
  readonly scan: Scan;
  /** Fingerprints of findings that the operator says are none. */
  readonly allowed: ReadonlySet<string>;
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
export async function lookAtPack(git: HostGit, quarantine: Quarantine, looking: Looking): Promise<PushedObjects> {
  const into = new PushedObjects();
  const words = ["cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch"];
  await look(git.start(words, { ...quarantine.alone, signal: looking.signal, input: "" }), looking, into);
  return into;
}

/**
 * Reads what the upstream would get for the first time, and the pack did not bring: a mirror also has objects that no ref of the upstream leads to any more.
 *
 * SECURITY: a push is not read less because the sandbox sent less of it (G-125)
 */
export async function lookBeyondPack(
  git: HostGit,
  quarantine: Quarantine,
  looking: Looking,
  reachable: ReadonlySet<string>,
  into: PushedObjects,
): Promise<void> {
  const others = [...reachable].filter((id) => !into.ids.has(id));
  if (others.length === 0) return;
  if (others.length > MAX_OBJECTS) throw new PackRefused(`it needs more than ${MAX_OBJECTS} objects beside its own`);
  const input = others.map((id) => `${id}\n`).join("");
  const words = ["cat-file", "--buffer", "--batch"];
  await look(git.start(words, { ...quarantine.both, signal: looking.signal, input }), looking, into);
}

async function look(running: RunningGit, looking: Looking, into: PushedObjects): Promise<void> {
  const reader = new StreamReader(running.stdout);
  const found = (id: string, type: ObjectFinding["type"], finding: TextFinding) => {
    // SECURITY: what is allowed takes no place from what is not (G-126)
    if (finding.severity !== "high" || looking.allowed.has(finding.fingerprint)) return;
    if (into.findings.length < MAX_FINDINGS) into.findings.push({ id, type, finding });
    else into.more++;
  };
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
      into.ids.add(id);
      into.bytes += size;
      if (into.bytes > MAX_UNPACKED_BYTES) throw new PackRefused("unpacked it is larger than the git gate takes");
      if (type === "blob") {
        if (size > looking.maxFileBytes) into.large.set(id, size);
        await lookAtBlob(reader, size, looking.scan, (finding) => found(id, type, finding));
      } else if (type === "tree") {
        if (size > MAX_TREE_BYTES) throw new PackRefused(`the tree ${id.slice(0, 12)} is too long`);
        into.trees.add(id, await readWhole(reader, size));
      } else {
        if (size > MAX_COMMIT_BYTES) throw new PackRefused(`the ${type} ${id.slice(0, 12)} is too long`);
        const content = await readWhole(reader, size);
        for (const finding of looking.scan.file("", messageFirst(content))) found(id, type, finding);
        if (type === "commit") into.commits.add(id);
        if (type === "commit" && looking.identity) into.authors.push(...judgeAuthors(id, content, looking.identity));
      }
      await reader.byte(); // a newline of its own
      looking.onProgress(into.ids.size, into.bytes);
    }
  } finally {
    running.kill();
  }
  // SECURITY: a few trees that hold each other many times are more paths than there is memory for (G-87)
  if (into.trees.largest > MAX_CHANGES) throw new PackRefused(`a tree of it has more than ${MAX_CHANGES} paths`);
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
