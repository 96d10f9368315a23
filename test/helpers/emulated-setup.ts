import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Once before the tests of the guest program for another processor: that program. */
export function setup(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync("make", ["-s", "-C", "guest", "ARCH=arm64", "emulated"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
}
