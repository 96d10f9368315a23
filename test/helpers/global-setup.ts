import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Once before the sandbox tests: the guest program they run. */
export function setup(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync("make", ["-s", "-C", "guest"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
}
