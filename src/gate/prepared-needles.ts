import { readFileSync } from "node:fs";
import { packageFile } from "../base/package-file.ts";
import { usePackedNeedles } from "../policy/dlp/create-detector.ts";

/** `scripts/bundle.mjs` writes it. */
const FILE = "dist/gate/needles.bin";

/** What the detectors look for, as the build has made it. Without it each gate makes it for itself, which takes half a second and twenty megabytes. */
export function readPreparedNeedles(): void {
  try {
    usePackedNeedles(readFileSync(packageFile(FILE)));
  } catch {
    // made with the first detector
  }
}
