/** A path and a query as they were sent, and the path as rules see it. */
export interface RequestTarget {
  /** As it goes to the upstream. */
  readonly sent: string;
  /** Without the query; what needs no encoding is decoded. */
  readonly path: string;
  /** From the `?` on; empty without one. */
  readonly query: string;
  /** Whether a part of the path holds an encoded slash: some servers take it for a slash, some do not. */
  readonly hasEncodedSlash: boolean;
}

export interface AmbiguousTarget {
  readonly ambiguous: string;
}

const MAX_TARGET = 32_768;
/**
 * SECURITY: a server that puts a parameter into a head of its own as it is decoded makes a header, or a request, of it (G-194)
 *
 * Text of many lines is in queries too: what begins such a line is the name of a header, with a dash or a well-known one.
 */
const HEADER_IN_QUERY =
  /%0d%0a(?:%0d%0a)?(?:[a-z0-9]{1,32}(?:-[a-z0-9]{1,32}){1,6}|host|cookie|location|connection|authorization|upgrade)(?:%20|\+)?(?::|%3a)|%0d%0a[a-z]{3,7}(?:%20|\+)[^&]{1,2048}(?:%20|\+)http(?:\/|%2f)[12]/i;
/** Nothing in such a path can be read in two ways, but for a doubled slash. */
const PLAIN_PATH = /^[A-Za-z0-9_/-]*$/;

/**
 * Reads `/path?query`. What two servers may read as two different paths is refused, with the reason.
 *
 * SECURITY: the path that a rule is asked about is the path that the upstream answers for (G-37)
 */
export function readTarget(sent: string): RequestTarget | AmbiguousTarget {
  if (sent.length > MAX_TARGET) return { ambiguous: "it is too long" };
  if (sent === "*") return { sent, path: "*", query: "", hasEncodedSlash: false };
  if (!sent.startsWith("/")) return { ambiguous: "it does not begin with a slash" };
  if (!/^[\x21-\x7e]*$/.test(sent)) return { ambiguous: "it has characters that need to be encoded" };
  if (sent.includes("#")) return { ambiguous: "it has a fragment" };
  const at = sent.indexOf("?");
  const path = at < 0 ? sent : sent.slice(0, at);
  if (at >= 0 && HEADER_IN_QUERY.test(sent)) return { ambiguous: "it has a line break and a header in its query" };
  if (PLAIN_PATH.test(path) && !path.includes("//"))
    return { sent, path, query: at < 0 ? "" : sent.slice(at), hasEncodedSlash: false };
  const reason = whyAmbiguous(path);
  if (reason !== undefined) return { ambiguous: reason };
  return {
    sent,
    path: decodeUnreserved(path),
    query: at < 0 ? "" : sent.slice(at),
    hasEncodedSlash: /%2f/i.test(path),
  };
}

export const isAmbiguous = (target: RequestTarget | AmbiguousTarget): target is AmbiguousTarget =>
  "ambiguous" in target;

function whyAmbiguous(path: string): string | undefined {
  if (path.includes("\\") || /%5c/i.test(path)) return "it has a backslash";
  if (path.includes("//")) return "it has a doubled slash";
  if (/%2e/i.test(path)) return "it has an encoded dot";
  if (/%(?:[01][0-9a-f]|7f)/i.test(path)) return "it has an encoded control character";
  if (/%(?![0-9a-f]{2})/i.test(path)) return "it has a percent sign that encodes nothing";
  if (/%(?:25)+(?:2e|2f|5c|00|0a|0d)/i.test(path)) return "it is encoded twice";
  // `%c0%af` is a slash for whoever reads UTF-8 without care.
  if (/%(?:c[01]%[89ab]|e0%[89]|f0%8)/i.test(path)) return "it has a character that is longer than it may be";
  // Also `/v1/..%2fadmin`, `/v1/..;/admin` as some servers read it, and `/v1/..%20/admin` as others do.
  if (/(?:^|[/;]|%2f|%3b)(?:%20)*\.(?:%20)*\.?(?:%20)*(?:$|[/;]|%2f|%3b)/i.test(path)) return "it has a dot segment";
  return undefined;
}

/** Letters, digits and `-._~` mean the same with and without encoding. */
function decodeUnreserved(path: string): string {
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : whole;
  });
}
