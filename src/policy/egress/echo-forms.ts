/** A text as some kind of document has it. */
type Spelling = (text: string) => string;

/** Characters, and what is written in their place. */
type Signs = Readonly<Record<string, string>>;

const TAGS: Signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** What libraries make of signs in a page: some leave quotation marks as they are, each has its own number for an apostrophe. */
const IN_PAGES: readonly Signs[] = [
  TAGS,
  ...["&#39;", "&#039;", "&#x27;", "&apos;"].map((apostrophe) => ({ ...TAGS, '"': "&quot;", "'": apostrophe })),
  { ...TAGS, '"': "&#34;", "'": "&#39;" },
  { ...TAGS, '"': "&#34;", "'": "&#39;", "+": "&#43;" },
  { ...TAGS, '"': "&quot;", "'": "&#x27;", "`": "&#x60;" },
  { ...TAGS, '"': "&quot;", "'": "&#x27;", "`": "&#x60;", "=": "&#x3D;" },
  { ...TAGS, '"': "&quot;", "'": "&#39;", "/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;" },
  { "&": "&#38;", "<": "&#60;", ">": "&#62;", '"': "&#34;", "'": "&#39;" },
];

/** What libraries write as `\u…` in JSON, beside what they have to. */
const IN_JSON: readonly RegExp[] = [/[&<>]/g, /[&<>'=]/g, /["&'+<>`\u0080-\uffff]/g, /[\u0080-\uffff]/g];

const replaced =
  (signs: Signs): Spelling =>
  (text) =>
    Array.from(text, (one) => signs[one] ?? one).join("");

const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const slashed: Spelling = (text) => json(text).replaceAll("/", String.raw`\/`);

const asUnits = (text: string, signs: RegExp): string =>
  text.replaceAll(signs, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Such a library has no other way to write a quotation mark. */
const unitsIn =
  (signs: RegExp, from: Spelling): Spelling =>
  (text) =>
    asUnits(signs.source.includes('"') ? from(text).replaceAll(String.raw`\"`, '"') : from(text), signs);

const inUpperCase =
  (spelling: Spelling): Spelling =>
  (text) =>
    spelling(text).replaceAll(/\\u[0-9a-f]{4}/g, (unit) => String.raw`\u${unit.slice(2).toUpperCase()}`);

const inLowerCase =
  (spelling: Spelling): Spelling =>
  (text) =>
    spelling(text).replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());

const percent = (text: string): string => `%${text.charCodeAt(0).toString(16).toUpperCase()}`;
/** What some leave as it is, and others do not. */
const strict: Spelling = (text) => encodeURIComponent(text).replaceAll(/[!'()*]/g, percent);
const IN_URLS: readonly Spelling[] = [
  encodeURIComponent,
  strict,
  (text) => strict(text).replaceAll("%2F", "/"),
  (text) => strict(text).replaceAll("%20", "+").replaceAll("~", "%7E"),
  (text) => strict(text).replaceAll("%20", "+").replaceAll("%2A", "*").replaceAll("~", "%7E"),
];

const SPELLINGS: readonly Spelling[] = [
  (text) => text,
  json,
  slashed,
  ...[json, slashed].flatMap((from) =>
    IN_JSON.map((signs) => unitsIn(signs, from)).flatMap((spelling) => [spelling, inUpperCase(spelling)]),
  ),
  ...IN_PAGES.map(replaced),
  ...IN_URLS.flatMap((spelling) => [spelling, inLowerCase(spelling)]),
];

/**
 * How a server may write a value that it repeats: as it is, in hex and in base64, each of these also as JSON, a page or a URL has it. As text of one character a byte.
 *
 * SECURITY: which signs are escaped differs from library to library, and half of a credential between two signs is as good as all of it (G-182)
 */
export function echoForms(value: string): ReadonlySet<string> {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const written = [value, ...base64Forms(bytes)].flatMap((text) => SPELLINGS.map((spelling) => spelling(text)));
  return new Set([hex, hex.toUpperCase(), ...written.map((text) => Buffer.from(text).toString("latin1"))]);
}

/** In base64 a text looks different at each of three offsets; what depends on its neighbours is left out. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = padded.subarray(0, padded.length - (padded.length % 3)).toString("base64");
    const form = whole.slice(before === 0 ? 0 : before + 1);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
