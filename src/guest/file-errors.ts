import { constants } from "node:os";
import type { ClocheError } from "../base/errors.ts";
import { failure, type ErrorCode } from "../model/error-codes.ts";

const { errno } = constants;

const CODES = new Map<number, [ErrorCode, string]>([
  [errno.ENOENT, ["FILE_NOT_FOUND", "it does not exist"]],
  [errno.EXDEV, ["PATH_OUTSIDE_WORKSPACE", "it leads out of the workspace"]],
  [errno.ELOOP, ["PATH_OUTSIDE_WORKSPACE", "its links lead out of the workspace or in a circle"]],
  [errno.EISDIR, ["FILE_WRONG_TYPE", "it is a directory"]],
  [errno.ENOTDIR, ["FILE_WRONG_TYPE", "a part of it is not a directory"]],
  [errno.EINVAL, ["FILE_WRONG_TYPE", "it is not a regular file"]],
  [errno.ENOSPC, ["DISK_FULL", "no space is left"]],
  [errno.EDQUOT, ["DISK_FULL", "no space is left"]],
  [errno.EFBIG, ["FILE_TOO_LARGE", "it is too large"]],
  [errno.E2BIG, ["TOO_MANY_ENTRIES", "there are too many entries"]],
  [errno.EACCES, ["FILE_FAILED", "permission denied"]],
  [errno.EPERM, ["FILE_FAILED", "operation not permitted"]],
  [errno.EEXIST, ["FILE_FAILED", "it exists"]],
  [errno.ENOTEMPTY, ["FILE_FAILED", "the directory is not empty"]],
  [errno.EROFS, ["FILE_FAILED", "it is read-only"]],
  [errno.ENAMETOOLONG, ["FILE_FAILED", "the name is too long"]],
]);

/** The same for an error about one of many below `path`, which is named by the guest's message. */
export function memberError(action: string, path: string, number: number, message: string): ClocheError {
  if (message === "") return fileError(action, path, number, message);
  const [code] = CODES.get(number) ?? ["FILE_FAILED" as const];
  const reason = message.charAt(0).toLowerCase() + message.slice(1);
  return failure(code, `Cannot ${action} "${path}": ${reason}`, { details: { errno: number } });
}

/** What an errno of file work in a sandbox becomes; `path` as the user gave it. */
export function fileError(action: string, path: string, number: number, message: string): ClocheError {
  const [code, reason] = CODES.get(number) ?? ["FILE_FAILED", message || `error ${number}`];
  return failure(code, `Cannot ${action} "${path}": ${reason}`, { details: { errno: number } });
}
