import type { LeftOut } from "./seed-content.ts";
import type { ArtifactType } from "./names.ts";

export interface FileEntry {
  /** Absolute, under `/workspace`. */
  path: string;
  artifact_type: ArtifactType;
  size_bytes: number;
  link_target: string | null;
}

export interface FileList {
  workspace_id: string;
  path: string;
  recursive: boolean;
  entries: FileEntry[];
}

export const FILE_ENCODINGS = ["utf8", "base64"] as const;
export type FileEncoding = (typeof FILE_ENCODINGS)[number];

export interface FileContent {
  workspace_id: string;
  path: string;
  content: string;
  /** What `content` is: the text itself, or bytes that are no text, or were asked for so. */
  encoding: FileEncoding;
  /** Of the whole file, also when `content` is a part of it. */
  size_bytes: number;
  /** Whether there is more after `content`. */
  truncated: boolean;
  /** Where `content` starts, in bytes. */
  offset: number;
  /** Where to read on; null at the end. */
  next_offset: number | null;
}

export interface FileWritten {
  workspace_id: string;
  path: string;
  bytes_written: number;
}

/** What an export does with links that lead out of it. Links that stay within are always taken. */
export const LINK_POLICIES = ["refuse", "skip", "keep"] as const;
export type LinkPolicy = (typeof LINK_POLICIES)[number];

export interface Exported {
  workspace_id: string;
  workspace_path: string;
  output_path: string;
  artifact_type: ArtifactType;
  /** Links that led out and were left out, which `links: "skip"` asks for. */
  skipped_links: number;
}

export const CHANGE_STATUSES = ["added", "modified", "deleted", "renamed", "type_changed"] as const;
export type ChangeStatus = (typeof CHANGE_STATUSES)[number];

/**
 * Why a change has no patch: it is `binary` (or no UTF-8), `too_large` by itself, all patches together are (`budget`), it is closed to its own user or was gone
 * (`unreadable`), it is a pipe or another `special_file`, or its patch would be `in_the_way` of another's.
 */
export const OMISSIONS = ["binary", "too_large", "budget", "unreadable", "special_file", "in_the_way"] as const;
export type Omission = (typeof OMISSIONS)[number];

export interface DiffEntry {
  path: string;
  status: ChangeStatus;
  artifact_type: ArtifactType;
  size_bytes: number;
  /** The unified patch of this entry; absent where `omitted` says why, and for folders. */
  patch?: string;
  /** Why there is no patch. */
  omitted?: Omission;
  /** Where a renamed entry was before. */
  old_path?: string;
}

export interface Diff {
  workspace_id: string;
  changed: boolean;
  summary: { total: number } & Record<ChangeStatus, number>;
  entries: DiffEntry[];
  /** All patches together; `git apply` accepts it. */
  patch: string;
  /** Changes that the project's ignore rules cover, and that are not among the entries. */
  ignored_count: number;
  /** Entries without a patch that could have one, and why. */
  omitted: { count: number; reasons: Partial<Record<Omission, number>> };
}

export interface PatchApplied {
  workspace_id: string;
  changed: boolean;
  files: { path: string; status: ChangeStatus; old_path?: string }[];
}

/**
 * Where a push goes. `contents`: what is in a folder or an archive goes into `dest`, and so does a file under its own name. `copy`: as with `docker cp`, the
 * thing itself becomes `dest`, or goes into it where that is a folder; an archive is a file like any other.
 */
export const PLACEMENTS = ["contents", "copy"] as const;
export type Placement = (typeof PLACEMENTS)[number];

export interface SyncPushed {
  workspace_id: string;
  source_path: string;
  /** Where it is now: the folder that has what was in a folder or an archive, or the file. */
  dest: string;
  files: number;
  /** What git ignores and what therefore stayed at home; null where there is none. */
  left_out: LeftOut | null;
}

export interface DiskExported {
  workspace_id: string;
  output_path: string;
  format: "tar" | "ext4";
  size_bytes: number;
}
