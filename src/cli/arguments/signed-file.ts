import { OUTPUT } from "./common-options.ts";
import type { OptionSpec } from "./option-spec.ts";

/** Options of what is signed, and of what verifies it. */
export const KEY = {
  type: "string",
  value: "FILE",
  description: "The public key of the installation that signed it (default: keys/installation.pub in the cloche home)",
  completes: "host-path",
} as const satisfies OptionSpec;

export const SIGNED_OUTPUT = {
  ...OUTPUT,
  value: "FILE",
  description: "The file to write",
} as const satisfies OptionSpec;

export const OVERWRITE_FILE = {
  type: "boolean",
  description: "Let it take the place of a file that is there",
} as const satisfies OptionSpec;
