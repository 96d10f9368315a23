export interface HandleRow {
  /** As in the table: `ws.files.read(path, options?)`. */
  readonly call: string;
  readonly gives: string;
  /** The flat method that it links to, or undefined. */
  readonly flat: string | undefined;
}

/** The rows of the tables of `docs/sdk.md` that show what handles can do. */
export const handleRows = (page: string): HandleRow[] =>
  [...page.matchAll(/^\| `((?:ws|service|shell)\..*?)` \| `(.*?)` \| (.*?) \|$/gm)].map(([, call, gives, last]) => ({
    call: call ?? "",
    gives: gives ?? "",
    flat: /^\[`(\w+)`\]/.exec(last ?? "")?.[1],
  }));
