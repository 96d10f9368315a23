import { OWN_PROGRAM } from "../base/own-program.ts";

/** The guest program; it is also the host's tool for what has to be done as a sandbox's root. */
export const GUEST_PROGRAM = OWN_PROGRAM;
