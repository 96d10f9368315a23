/**
 * How user ids in a sandbox map to the host's. Run as root, ids 0..65535 are shifted to a range that belongs to nobody, so that
 * neither the sandbox's root nor its `agent` is anybody on the host. Run by a user, that user is the one id there is.
 */
export interface IdMap {
  readonly kind: "shifted" | "single";
  /** Host uid and gid for a sandbox uid and gid. */
  toHost(uid: number, gid: number): { uid: number; gid: number };
}

/** Above the ranges of systemd-nspawn and below those of foreign ids; see `docs/decisions/0003-wall.md`. */
export const SHIFT_BASE = 1_900_000_000;
export const SHIFT_COUNT = 65_536;

/**
 * Ranges of that many ids each, of which a sandbox that runs takes one for itself where its wall can: on disk its files have the ids above. Beyond those
 * that emulators run as, and below those of foreign ids too; see `docs/decisions/0020-own-ids.md`.
 */
export const OWN_IDS = { first: 2_034_300_000, ranges: 1700 } as const;

export function currentIdMap(uid = process.getuid?.() ?? 0, gid = process.getgid?.() ?? 0): IdMap {
  if (uid !== 0) return { kind: "single", toHost: () => ({ uid, gid }) };
  const shift = (id: number) => SHIFT_BASE + Math.min(id, SHIFT_COUNT - 1);
  return { kind: "shifted", toHost: (ownUid, ownGid) => ({ uid: shift(ownUid), gid: shift(ownGid) }) };
}
