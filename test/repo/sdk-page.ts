import { findFences } from "./markdown.ts";

export interface MethodSection {
  readonly method: string;
  readonly signature: string;
  /** Names in the first column of the table of options. */
  readonly options: readonly string[];
  readonly hasExample: boolean;
}

/** The sections of `docs/sdk.md`, one for each method. */
export function sdkSections(page: string): MethodSection[] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      method: text.split("\n", 1)[0] ?? "",
      signature: /^`(.*)`$/m.exec(text)?.[1] ?? "",
      options: [...text.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = ""]) =>
        [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""),
      ),
      hasExample: findFences(text).some(({ language }) => language === "ts"),
    }));
}

/** All examples as one module, in order: what one declares, the next may use. */
export const sdkProgram = (page: string): string =>
  findFences(page)
    .filter(({ language }) => language === "ts")
    .map(({ text }) => text)
    .join("\n");
