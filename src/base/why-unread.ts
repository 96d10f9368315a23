import { errnoOf, messageOf } from "./errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "it is not there",
  ENOTDIR: "it is not there",
  EISDIR: "it is a folder",
  EACCES: "you may not read it",
};

/** Why a file cannot be read, as a clause after its path: Node's own words have the path in them once more. */
export const whyUnread = (error: unknown): string => WORDS[errnoOf(error) ?? ""] ?? messageOf(error);
