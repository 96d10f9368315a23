import { isClocheError } from "../base/errors.ts";
import type { ErrorCode } from "../model/error-codes.ts";

/** What is said of something whose workspace is gone, or whose sandbox is. */
export const SANDBOX_GONE = ["WORKSPACE_NOT_FOUND", "WORKSPACE_NOT_RUNNING"] as const satisfies readonly ErrorCode[];

/** Ends something. That it is gone already is fine; whatever else keeps it from ending is thrown. */
export async function unlessGone(codes: readonly ErrorCode[], end: () => Promise<unknown>): Promise<void> {
  try {
    await end();
  } catch (error) {
    if (!isClocheError(error) || !codes.some((code) => code === error.code)) throw error;
  }
}
