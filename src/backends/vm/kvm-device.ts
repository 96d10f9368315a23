import { accessSync, constants, statSync, type Stats } from "node:fs";

const DEVICE = "/dev/kvm";
const GROUP_MAY = 0o060;
const ALL_MAY = 0o006;

/** Why this user cannot use it at all; nothing when it is there. */
export function whyNoKvm(): Error | undefined {
  try {
    accessSync(DEVICE, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return new Error(`${DEVICE} is not there, or not for this user`);
  }
}

/** The group that an emulator has to be in, which has given up all others; nothing where that does not help, or need not. */
export const kvmGroup = (): number | undefined => groupToUse(statSync(DEVICE));

export const groupToUse = ({ mode, gid }: Pick<Stats, "mode" | "gid">): number | undefined =>
  (mode & GROUP_MAY) === GROUP_MAY && (mode & ALL_MAY) !== ALL_MAY && gid !== 0 ? gid : undefined;
