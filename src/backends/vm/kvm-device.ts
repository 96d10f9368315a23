import { accessSync, constants, statSync, type Stats } from "node:fs";

const DEVICE = "/dev/kvm";
const GROUP_MAY = 0o060;
const ALL_MAY = 0o006;

/** Why an emulator cannot use it at all; nothing when it may. Root's emulators are nobody's. */
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

/** What it depends on whether an emulator may use it. */
export function kvmPermissions(): string {
  const device = statSync(DEVICE, { throwIfNoEntry: false });
  return device ? `${device.mode} ${device.gid}` : "none";
}

export const isRootsAlone = (device: Pick<Stats, "mode" | "gid">): boolean =>
  (device.mode & ALL_MAY) !== ALL_MAY && groupToUse(device) === undefined;

/** The group that an emulator has to be in, which has given up all others; nothing where that does not help, or need not. */
export const kvmGroup = (): number | undefined => groupToUse(statSync(DEVICE));

export const groupToUse = ({ mode, gid }: Pick<Stats, "mode" | "gid">): number | undefined =>
  (mode & GROUP_MAY) === GROUP_MAY && (mode & ALL_MAY) !== ALL_MAY && gid !== 0 ? gid : undefined;
