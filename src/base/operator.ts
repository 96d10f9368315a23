import { userInfo } from "node:os";

/** Who answers for what this process does: its user. Nobody else reaches the daemon's socket. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "?"}`;
  }
}
