import { NAME, SECRET_NAME } from "../model/vocabulary.ts";
import { BadValue } from "./bad-value.ts";

/** Texts of options as values. Each throws `BadValue` with what would fit. */
export function parseSeconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value) || value <= 0) throw new BadValue("give a number of seconds above 0");
  return value;
}

export function parseCount(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < 1) throw new BadValue("give a whole number above 0");
  return value;
}

export interface Pair {
  readonly name: string;
  readonly value: string;
}

export function parseLabel(text: string): Pair {
  const { name, value } = splitPair(text, "KEY=VALUE");
  return { name: parseLabelKey(name), value };
}

export function parseLabelKey(text: string): string {
  if (!NAME.test(text))
    throw new BadValue("a key is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit");
  return text;
}

export function parseSecret(text: string): Pair {
  const pair = splitPair(text, "NAME=VALUE");
  return { ...pair, name: checkSecretName(pair.name) };
}

export function parseSecretFile(text: string): Pair {
  const pair = splitPair(text, "NAME=PATH");
  if (pair.value === "") throw new BadValue("the path is empty");
  return { ...pair, name: checkSecretName(pair.name) };
}

/** `NAME`, or `NAME=ENV` to call it otherwise in the command's environment. */
export function parseSecretEnv(text: string): Pair {
  const { name, value } = text.includes("=") ? splitPair(text, "NAME[=ENV]") : { name: text, value: text };
  return { name: checkSecretName(name), value: checkSecretName(value) };
}

function checkSecretName(name: string): string {
  if (!SECRET_NAME.test(name))
    throw new BadValue("a name is 1 to 64 letters, digits or '_', and does not start with a digit");
  return name;
}

function splitPair(text: string, form: string): Pair {
  const at = text.indexOf("=");
  if (at === -1) throw new BadValue(`the form is ${form}`);
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}

export const toRecord = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
