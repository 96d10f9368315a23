import { z } from "zod";

/** As many as a gate serves in one sandbox. */
const MAX_DOORS = 16;

const port = z.number().int().min(1).max(65_535);

/** Where the connections of a door lead: to one place of this host, or to what the gate itself serves. */
export const DoorTarget = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("unix"), path: z.string().startsWith("/").max(4096) }),
  /** On 127.0.0.1. */
  z.strictObject({ kind: z.literal("tcp"), port }),
  /** To what the workspace's policy lets out. */
  z.strictObject({ kind: z.literal("egress") }),
  /** To the repositories of the workspace's bottle. */
  z.strictObject({ kind: z.literal("git") }),
  /** To the tools with which an agent asks the operator. */
  z.strictObject({
    kind: z.literal("supervise"),
    /** Whether it may ask for another environment. */
    can_change_environment: z.boolean(),
  }),
]);
export type DoorTarget = z.infer<typeof DoorTarget>;
export type HostTarget = Exclude<DoorTarget, { kind: "egress" | "git" | "supervise" }>;

/** A loopback port of the sandbox that leads through the workspace's gate, and nowhere else. */
export const Door = z.strictObject({ port, to: DoorTarget });
export type Door = z.infer<typeof Door>;

/** The doors that a workspace is to have, in every sandbox that it gets. */
export const Doors = z
  .array(Door)
  .max(MAX_DOORS)
  .refine((doors) => new Set(doors.map((door) => door.port)).size === doors.length, "two doors have the same port");
