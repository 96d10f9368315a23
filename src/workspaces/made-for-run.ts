import type { StoredWorkspace } from "../contracts/store.ts";

/** A workspace that was made for a run is known by its key, also when the state of the run is gone or somebody has given the workspace another name. */
const RUN_KEY = "run/";

export const runKey = (identity: string): string => `${RUN_KEY}${identity}`;

export const runIdentityOf = ({ idempotencyKey: key }: Pick<StoredWorkspace, "idempotencyKey">): string | undefined =>
  key?.startsWith(RUN_KEY) === true ? key.slice(RUN_KEY.length) : undefined;

/** SECURITY: a key that a caller gives is none of ours, whatever it looks like: what has one of ours is removed by a clean-up (G-69) */
export const givenKey = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : `given/${key}`;
