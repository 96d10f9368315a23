import { ownProgram } from "../base/own-program.ts";

/** The path of the guest program, which is also the host's tool for what has to be done as a sandbox's root. Throws when it is missing or damaged. */
export const guestProgram = (): string => ownProgram();
