import { isDeepStrictEqual } from "node:util";
import type { Table } from "./host.ts";

/** A host's file, read whole. */
export interface ConfigDocument {
  readonly value: Table;
  /** The text with one entry of a table set, everything else as it was, down to the byte. Throws `CannotSet` where that is not possible. */
  set(table: string, name: string, entry: Table): string;
}

/** Where a text is not what it should be; lines and columns count from 1. */
export class BadSyntax extends Error {
  readonly line: number;
  readonly column: number;

  constructor(reason: string, line: number, column: number) {
    super(reason);
    this.line = line;
    this.column = column;
  }
}

/** The form of the text does not allow the change; it would have to be written anew. */
export class CannotSet extends Error {}

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function withEntry(value: Table, table: string, name: string, entry: Table): Table {
  const entries = value[table];
  return { ...value, [table]: { ...(isTable(entries) ? entries : {}), [name]: entry } };
}

/** Whether two values say the same, whatever their objects' prototypes are. */
export const sameValue = (one: unknown, other: unknown): boolean => isDeepStrictEqual(plain(one), plain(other));

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isTable(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
