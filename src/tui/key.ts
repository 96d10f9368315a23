/** What a key means; `text` for what is typed. */
export type Key =
  | { readonly name: "up" | "down" | "page-up" | "page-down" | "home" | "end" }
  | { readonly name: "enter" | "escape" | "tab" | "backspace" | "clear" | "interrupt" }
  | { readonly name: "text"; readonly text: string };

/** The part of what ink tells of a key that means something here. */
interface InkKey {
  readonly upArrow: boolean;
  readonly downArrow: boolean;
  readonly pageUp: boolean;
  readonly pageDown: boolean;
  readonly home: boolean;
  readonly end: boolean;
  readonly return: boolean;
  readonly escape: boolean;
  readonly tab: boolean;
  readonly backspace: boolean;
  readonly delete: boolean;
  readonly ctrl: boolean;
  readonly meta: boolean;
}

const NAMED = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["pageUp", "page-up"],
  ["pageDown", "page-down"],
  ["home", "home"],
  ["end", "end"],
  ["return", "enter"],
  ["escape", "escape"],
  ["tab", "tab"],
  // Most terminals send for the backspace key what ink calls delete.
  ["backspace", "backspace"],
  ["delete", "backspace"],
] as const;
const CONTROL: Readonly<Record<string, Key>> = {
  c: { name: "interrupt" },
  d: { name: "page-down" },
  f: { name: "page-down" },
  u: { name: "clear" },
  b: { name: "page-up" },
  h: { name: "backspace" },
};

/** Undefined for keys that mean nothing here. */
export function toKey(input: string, key: InkKey): Key | undefined {
  const named = NAMED.find(([one]) => key[one]);
  if (named) return { name: named[1] };
  if (key.ctrl) return CONTROL[input];
  // Alt and a letter is no letter.
  return key.meta || input === "" ? undefined : { name: "text", text: input };
}
