import type { FileEntry, FileList } from "../model/files.ts";
import { page, TEXT_BUDGET } from "./bounded.ts";

export interface FileListPage extends FileList {
  total: number;
  next_cursor: number | null;
}

export function listPage(list: FileList, cursor: number | undefined): FileListPage {
  const { entries, nextCursor } = page<FileEntry>(list.entries, cursor);
  return { ...list, entries, total: list.entries.length, next_cursor: nextCursor };
}

/** How much of a file one answer holds: what was asked for, within the budget. */
export const readSize = (asked: number | undefined): number => Math.min(asked ?? TEXT_BUDGET, TEXT_BUDGET);
