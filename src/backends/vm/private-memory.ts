import { ownFile } from "../../base/own-program.ts";

/** The library that gives an emulator the template's memory for itself alone. */
export const privateMemory = (): string => ownFile("private-memory.so");
