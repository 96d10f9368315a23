import type { ProvidedFile } from "../model/provider.ts";

/** Only the agent reads it. */
export const textFile = (path: string, text: string): ProvidedFile => ({ path, text, mode: 0o600 });

export const jsonFile = (path: string, value: unknown): ProvidedFile =>
  textFile(path, `${JSON.stringify(value, null, 2)}\n`);
