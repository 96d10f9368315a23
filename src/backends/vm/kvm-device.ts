import { accessSync, constants, statSync, type Stats } from "node:fs";

const DEVICE = "/dev/kvm";
const GROUP_MAY = 0o060;
const ALL_MAY = 0o006;

/**
 * Why an emulator cannot use the device; undefined when it can. Root starts its emulators as users without rights, so it is not enough that root may open
 * the device.
 */
export function whyNoKvm(ofRoot: boolean): Error | undefined {
  try {
    accessSync(DEVICE, constants.R_OK | constants.W_OK);
    return ofRoot && isRootsAlone(statSync(DEVICE)) ? forOthers() : undefined;
  } catch {
    return new Error(`${DEVICE} is not there, or not for this user`);
  }
}

const forOthers = (): Error =>
  new Error(
    `only root may use ${DEVICE}, and emulators run as nobody; \`chgrp kvm ${DEVICE} && chmod 660 ${DEVICE}\` lets them`,
  );

/** The rights of the device as text. When the text changes, the answer of `whyNoKvm` may have changed too. */
export function kvmPermissions(): string {
  const device = statSync(DEVICE, { throwIfNoEntry: false });
  return device ? `${device.mode} ${device.gid}` : "none";
}

export const isRootsAlone = (device: Pick<Stats, "mode" | "gid">): boolean =>
  (device.mode & ALL_MAY) !== ALL_MAY && groupToUse(device) === undefined;

/** An emulator gives up all its groups. This is the one that it needs to open the device; undefined when no group helps, or none is needed. */
export const kvmGroup = (): number | undefined => groupToUse(statSync(DEVICE));

export const groupToUse = ({ mode, gid }: Pick<Stats, "mode" | "gid">): number | undefined =>
  (mode & GROUP_MAY) === GROUP_MAY && (mode & ALL_MAY) !== ALL_MAY && gid !== 0 ? gid : undefined;
