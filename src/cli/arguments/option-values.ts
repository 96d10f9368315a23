import { parseDuration } from "../../base/duration.ts";
import { NAME, SECRET_NAME } from "../../model/vocabulary.ts";
import { BadValue } from "./bad-value.ts";

/** Texts of options as values. Each throws `BadValue` with what would fit. */
export function parseSeconds(text: string): number {
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new BadValue("give seconds above 0, or a time such as 90s, 10m or 2h");
  return seconds;
}

export function parseCount(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < 1) throw new BadValue("give a whole number above 0");
  return value;
}

export function parseSequence(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new BadValue("give the sequence of an event, or 0");
  return value;
}

export function parsePort(text: string): number {
  return checkPort(text, 1);
}

export interface Publication {
  readonly guest_port: number;
  readonly host_port?: number;
}

/** `GUEST`, or `HOST:GUEST` to choose the host's port too; 0 is one that is free. */
export function parsePublication(text: string): Publication {
  const at = text.indexOf(":");
  if (at === -1) return { guest_port: checkPort(text, 1) };
  return { guest_port: checkPort(text.slice(at + 1), 1), host_port: checkPort(text.slice(0, at), 0) };
}

function checkPort(text: string, least: number): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port >= least && port <= 65_535)) throw new BadValue(`a port is a whole number from ${least} to 65535`);
  return port;
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

export interface Variable {
  readonly name: string;
  /** Undefined: as it is here. */
  readonly value: string | undefined;
}

/** `NAME=VALUE`, or `NAME` for the value that it has here. */
export function parseVariable(text: string): Variable {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new BadValue("a variable's name is letters, digits or '_', and does not start with a digit");
  return { name, value: at === -1 ? undefined : text.slice(at + 1) };
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
