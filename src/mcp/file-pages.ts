import type { FileEntry, FileList } from "../model/files.ts";
import { page } from "./bounded.ts";

export interface FileListPage extends FileList {
  total: number;
  next_cursor: number | null;
}

export function listPage(list: FileList, cursor: number | undefined): FileListPage {
  const { entries, nextCursor } = page<FileEntry>(list.entries, cursor);
  return { ...list, entries, total: list.entries.length, next_cursor: nextCursor };
}
