export type Paint = (text: string) => string;
export type Colours = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", Paint>>;

const paint =
  (enabled: boolean, open: number, close: number): Paint =>
  (text) =>
    enabled ? `\u001B[${open}m${text}\u001B[${close}m` : text;

export function createColours(enabled: boolean): Colours {
  return {
    bold: paint(enabled, 1, 22),
    dim: paint(enabled, 2, 22),
    red: paint(enabled, 31, 39),
    green: paint(enabled, 32, 39),
    yellow: paint(enabled, 33, 39),
    cyan: paint(enabled, 36, 39),
  };
}

/** Colour only on a terminal that knows it, and never with `NO_COLOR`. */
export function wantsColour(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}
