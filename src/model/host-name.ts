import { domainToASCII } from "node:url";

const MAX_NAME = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Also `0x7f`, `017` and `1`: what a resolver may take for a part of an address. */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/;

/**
 * A name as it is compared: lower case, without the final dot, international labels in their ASCII form. Undefined for what is no name of a host: an address in any
 * form, `localhost`, or anything with a character that names do not have.
 *
 * SECURITY: two spellings of one host are one, and an address is never a host, however it is written (G-35)
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.endsWith(".") ? text.slice(0, -1) : text;
  const name = /^[\x21-\x7e]*$/.test(bare) ? bare.toLowerCase() : domainToASCII(bare);
  if (name === "" || name.length > MAX_NAME) return undefined;
  const labels = name.split(".");
  if (!labels.every((label) => LABEL.test(label)) || NUMBER.test(labels.at(-1) ?? "")) return undefined;
  if (labels.at(-1) === "localhost") return undefined;
  // What the URL standard reads differently would be another host for the upstream's tools; it also knows which `xn--` labels there can be.
  return name.includes("_") || domainToASCII(name) === name ? name : undefined;
}

/** Labels after the star of `*.example.com`, at least two: `*.com` would be half of the world. */
const MIN_LABELS_AFTER_STAR = 2;

/** A host, or `*.` and a name of at least two labels, as it is compared; undefined for anything else. */
export function canonicalHostPattern(text: string): string | undefined {
  if (!text.startsWith("*.")) return canonicalHost(text);
  const rest = canonicalHost(text.slice(2));
  return rest !== undefined && rest.split(".").length >= MIN_LABELS_AFTER_STAR ? `*.${rest}` : undefined;
}
