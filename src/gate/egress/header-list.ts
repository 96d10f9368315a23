/** Headers as they came: name and value in turns, in their order. */
export type HeaderList = readonly string[];

/** Whether a name is the one that is wanted, which is in small letters. Most differ in length, and cost nothing more. */
const isNamed = (name: string | undefined, wanted: string): boolean =>
  name?.length === wanted.length && name.toLowerCase() === wanted;

/** Each pair that is to stay. */
export function filterHeaders(headers: HeaderList, keep: (name: string, value: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    if (keep(name.toLowerCase(), value)) kept.push(name, value);
  }
  return kept;
}

export function headerValues(headers: HeaderList, wanted: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (isNamed(headers[at], wanted)) values.push(headers[at + 1] ?? "");
  return values;
}

/** All of one name, as one; undefined without. */
export function headerValue(headers: HeaderList, wanted: string): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (isNamed(headers[at], wanted))
      found = found === undefined ? headers[at + 1] : `${found}, ${headers[at + 1] ?? ""}`;
  return found;
}

export function headerPairs(headers: HeaderList): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at] ?? "", headers[at + 1] ?? ""]);
  return pairs;
}

const NONE: readonly string[] = [];

/** For one connection alone, and never for the next one. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

export const isHopByHop = (name: string): boolean => HOP_BY_HOP.has(name);

/** What of a message goes on to the next connection. What `Connection` names does not, nor do the pseudo headers of HTTP/2. */
export function endToEnd(headers: HeaderList): string[] {
  const connection = headerValue(headers, "connection")?.toLowerCase();
  const named = connection === undefined ? NONE : connection.split(",").map((one) => one.trim());
  return filterHeaders(headers, (name) => !HOP_BY_HOP.has(name) && !named.includes(name) && !name.startsWith(":"));
}

/** Whether the one who asks takes trailers, which the gate carries on. */
export const takesTrailers = (headers: HeaderList): boolean =>
  /(?:^|,)\s*trailers\s*(?:[;,]|$)/i.test(headerValue(headers, "te") ?? "");

/** As HTTP/2 takes them: by lower-case name, several values of one as a list. */
export function headerObject(headers: HeaderList): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [given, value] of headerPairs(headers)) {
    const name = given.toLowerCase();
    const known = object[name];
    object[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  return object;
}
