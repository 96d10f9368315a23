import fc from "fast-check";
import { expect, it } from "vitest";
import { EchoMask } from "./echo-mask.ts";

const TOKEN = "tok-Ab3/x+9_kLmN0pQrStUv";
const through = (mask: EchoMask, chunks: readonly Buffer[]): string => {
  const stream = mask.stream();
  return Buffer.concat([...chunks.map((chunk) => stream.push(chunk)), stream.end()]).toString("latin1");
};

it("G-40 overwrites a credential in every form that a server gives it, and keeps all lengths", () => {
  const mask = new EchoMask([TOKEN]);
  const encoded = (before: string) => Buffer.from(`${before}${TOKEN}!`).toString("base64");
  const forms = [
    TOKEN,
    encodeURIComponent(TOKEN),
    Buffer.from(TOKEN).toString("hex"),
    encoded(""),
    encoded("u:"),
    encoded("user:"),
  ];
  for (const form of forms) {
    const text = `before ${form} after`;
    const shown = through(mask, [Buffer.from(text)]);
    expect(shown).toHaveLength(text.length);
    expect(shown).toMatch(/^before .*\*{20,}.* after$/);
    expect(mask.text(text)).toBe(shown);
  }
});

it("G-40 overwrites one with signs in it, as JSON, a URL or a page has them, whatever is around it", () => {
  const value = `real"token/with+signs&<${"x7Qz".repeat(4)}`;
  const mask = new EchoMask([value]);
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    value.replaceAll(/[&<"]/g, (one) => `&#${one.charCodeAt(0)};`),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...forms), fc.string(), fc.nat(100_000), (form, around, length) => {
      const text = Buffer.from(`${"-".repeat(length)}${around}${form}${around}`);
      const shown = through(mask, [text.subarray(0, length), text.subarray(length)]);
      expect(shown).not.toContain(form);
      expect(shown).toHaveLength(text.length);
      expect(mask.texts([around, form, around])).toEqual([around, "*".repeat(form.length), around]);
    }),
    { numRuns: 50 },
  );
});

/** A sign between letters: what is left of a value when only the letters are not shown, and what is shown when only its plain form is looked for. */
const SIGNS = `q8Lx"w3Ta/k5Mz+v7Rb=j2Nc&p9Yd<s4Ge>h6Kf'`;
const BASIC = Buffer.from("user:>>>???>>>???~~~~longEnoug").toString("base64");
const hexOf = (one: string) => one.charCodeAt(0).toString(16);

it.each([
  [
    "JSON of PHP",
    SIGNS,
    JSON.stringify(SIGNS)
      .slice(1, -1)
      .replaceAll("/", String.raw`\/`),
  ],
  [
    "JSON of Go",
    SIGNS,
    JSON.stringify(SIGNS)
      .slice(1, -1)
      .replaceAll(/[&<>]/g, (one) => `\\u00${hexOf(one)}`),
  ],
  [
    "JSON of Gson",
    SIGNS,
    JSON.stringify(SIGNS)
      .slice(1, -1)
      .replaceAll(/[&<>'=]/g, (one) => `\\u00${hexOf(one)}`),
  ],
  ["JSON of .NET", SIGNS, SIGNS.replaceAll(/["&'+<>]/g, (one) => `\\u00${hexOf(one).toUpperCase()}`)],
  [
    "a page of Python",
    SIGNS,
    SIGNS.replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#x27;"),
  ],
  ["a page with quotes", SIGNS, SIGNS.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")],
  ["a page of Mustache", "aB3xY9/kLm+pQ7=", "aB3xY9&#x2F;kLm+pQ7&#x3D;"],
  ["a URL in small letters", SIGNS, encodeURIComponent(SIGNS).replaceAll(/%../g, (one) => one.toLowerCase())],
  ["a URL of Python", SIGNS, encodeURIComponent(SIGNS).replaceAll("%2F", "/").replaceAll("'", "%27")],
  ["a form", "aB3xY9 kLm~pQ7", "aB3xY9+kLm%7EpQ7"],
  ["base64 in JSON of PHP", "user:>>>???>>>???~~~~longEnoug", BASIC.replaceAll("/", String.raw`\/`)],
  ["base64 in a URL", "user:>>>???>>>???~~~~longEnoug", encodeURIComponent(BASIC)],
])("G-182 overwrites a credential with signs in it as it stands in %s", (_where, value, form) => {
  expect(form).not.toBe(value);
  const shown = through(new EchoMask([value]), [Buffer.from(`before ${form} after`)]);
  expect(shown.replaceAll("*", "")).toBe("before  after");
});

it("G-40 finds it wherever the answer is cut", () => {
  const mask = new EchoMask([TOKEN, "tok-tok-tok"]);
  const whole = Buffer.from(`xtok-tok-${TOKEN}tok-tok-tok-tok${TOKEN.slice(0, 10)}`);
  const expected = through(mask, [whole]);
  expect(expected).not.toContain(TOKEN);
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const chunks = places.slice(1).map((end, index) => whole.subarray(places[index], end));
      expect(through(mask, chunks)).not.toContain(TOKEN);
      expect(through(mask, chunks)).toHaveLength(whole.length);
    }),
  );
});

it("lets everything else pass as it is, at once but for what may be a beginning", () => {
  const stream = new EchoMask([TOKEN]).stream();
  expect(stream.push(Buffer.from("data: one\n\n")).toString()).toBe("data: one\n\n");
  expect(stream.push(Buffer.from("data: to")).toString()).toBe("data: ");
  expect(stream.push(Buffer.from("day")).toString()).toBe("today");
  expect(stream.push(Buffer.from("tok")).toString()).toBe("");
  expect(stream.flush().toString()).toBe("tok");
  expect(stream.push(Buffer.from("ens")).toString()).toBe("ens");
});

it("G-40 does not show the rest of one whose beginning was shown for want of more", () => {
  const stream = new EchoMask([TOKEN]).stream();
  const shown = [
    stream.push(Buffer.from("tok")),
    stream.flush(),
    stream.push(Buffer.from(TOKEN.slice(3, 12))),
    stream.flush(),
  ];
  shown.push(stream.push(Buffer.from(`${TOKEN.slice(12)}!`)), stream.end());
  expect(Buffer.concat(shown).toString()).toBe(`tok${"*".repeat(TOKEN.length - 3)}!`);
});

it("G-183 overwrites what a part of an answer has of a credential, wherever the part begins and ends", () => {
  const mask = new EchoMask([TOKEN]);
  const whole = Buffer.from(`{"authorization":"Bearer ${TOKEN}","rest":"${"-".repeat(200)}"}`);
  const start = whole.indexOf(TOKEN);
  for (let from = 0; from < whole.length; from++) {
    const part = whole.subarray(from, from + 64);
    for (const chunks of [[part], [...part].map((byte) => Buffer.from([byte]))]) {
      const stream = mask.stream({ isPart: true });
      const shown = Buffer.concat([...chunks.map((chunk) => stream.push(chunk)), stream.end()]);
      expect(shown).toHaveLength(part.length);
      const left = [...shown.keys()].filter((at) => {
        const place = from + at - start;
        return place >= 0 && place < TOKEN.length && shown[at] !== 0x2a;
      });
      // As of any answer that is cut: fewer bytes than could be told from others.
      expect(left.length).toBeLessThan(6);
    }
  }
});
