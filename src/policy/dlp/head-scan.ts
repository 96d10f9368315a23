import type { RequestHead } from "./detector.ts";
import { formValues } from "./joined-values.ts";

/** One part of a head, where it begins in the text of all of them. */
interface Part {
  readonly place: string;
  readonly start: number;
}

/** A head as one text, so that it is scanned in one go, and which place an offset is in. */
export class HeadText {
  readonly bytes: Buffer;
  readonly #head: RequestHead;

  constructor(head: RequestHead) {
    this.#head = head;
    // A byte for each character, so that offsets count both. Bytes above 0x7f come as such from HTTP; what else there is has no place in a head.
    let text = `${head.host}\n${head.path}\n${head.query}\n`;
    for (const [name, value] of head.headers) text += `${name}: ${value}\n`;
    this.bytes = Buffer.from(text, "latin1");
  }

  /** Worked out when something is found. */
  placeOf(offset: number): Part {
    const { host, path, query, headers } = this.#head;
    let place = "host";
    let start = 0;
    let end = host.length + 1;
    const step = (next: string, length: number) => {
      if (end > offset) return;
      place = next;
      start = end;
      end += length + 1;
    };
    step("path", path.length);
    step("query", query.length);
    for (const [name, value] of headers) step(`header:${name.toLowerCase()}`, name.length + 2 + value.length);
    return { place, start };
  }
}

/** What the labels of a host say together. Names of hosts are often made small, and base32 is what fits into them. */
export function joinedHostTexts(host: string): (readonly [string, string])[] {
  const joined = host.replaceAll(".", "");
  return [
    ["host", joined],
    ["host", joined.toUpperCase()],
  ];
}

/** What the cookies say together, without their names; empty for less than two. */
export function joinedCookies({ headers }: RequestHead): string {
  const cookies = headers
    .filter(([name]) => name.toLowerCase() === "cookie")
    .flatMap(([, value]) =>
      (formValues(Buffer.from(value, "latin1")) ?? []).map(({ start, end }) => value.slice(start, end)),
    );
  return cookies.length > 1 ? cookies.join("") : "";
}

/** Headers whose values are others' words. */
const ORDINARY = new Set(
  (
    "accept accept-encoding accept-language cache-control connection content-length content-type date host keep-alive " +
    "origin pragma te transfer-encoding upgrade user-agent"
  ).split(" "),
);

/** Headers whose values are the program's own. */
export const ownHeaders = (headers: RequestHead["headers"]): RequestHead["headers"] =>
  headers.filter(([name]) => !ORDINARY.has(name.toLowerCase()));

/** Parts by which a value may be cut over several requests: each parameter and header by its name, and the end of the path. */
export function memoryParts({ path, query, headers }: RequestHead): (readonly [string, string])[] {
  const parameters = query === "" ? [] : query.split("&").slice(0, 16);
  const own = ownHeaders(headers).slice(0, 16);
  return [
    ["path", path.slice(path.lastIndexOf("/") + 1)],
    ...parameters.map((one): readonly [string, string] => {
      const at = one.indexOf("=");
      return [`query:${one.slice(0, Math.max(0, at))}`, one.slice(at + 1)];
    }),
    ...own.map(([name, value]): readonly [string, string] => [`header:${name.toLowerCase()}`, value]),
  ];
}
