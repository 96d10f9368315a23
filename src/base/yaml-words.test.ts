import { expect, it } from "vitest";
import { parseDocument } from "yaml";
import { aliasFault, yamlWords } from "./yaml-words.ts";

function words(text: string): string | undefined {
  const document = parseDocument(text, { prettyErrors: false });
  const fault = document.errors[0] ?? aliasFault(document);
  return fault && yamlWords(text, fault);
}

const IN_QUOTES = 'a word that begins with a star needs quotes, as in "*.example.com"';
const TAKE_AWAY = 'take the "[]" above it away: the list below it is the value';
it.each([
  ["egress:\n  routes: []\n    - host: a.test\n    - host: b.test\n", TAKE_AWAY],
  ["egress:\n  routes: []\n  - host: a.test\n", TAKE_AWAY],
  ["egress:\n  routes: []\n\n    # mine\n    - host: a.test\n", TAKE_AWAY],
  ["routes: []\n- host: a.test\n", TAKE_AWAY],
  ["env: {}\n  A: b\n", 'take the "{}" above it away: what is below it is the value'],
  ["egress:\n\troutes:\n", "a tab indents this line; YAML is indented with spaces"],
  ["a: 1\nhost:x\nc: 3\n", 'there is no space after the colon of "host"'],
  ["routes: []\nhost:x\nc: 3\n", 'there is no space after the colon of "host"'],
  ["routes:\n  - host:x\n    ports: [1]\n", 'there is no space after the colon of "host"'],
  ["a: 1\nhost:x\n", 'there is no space after the colon of "host"'],
  ["routes:\n  - host: *.example.com\n", IN_QUOTES],
  ["branches: [*]\n", IN_QUOTES],
  ["paths: [**/x]\n", IN_QUOTES],
])("says what is wrong with %j", (text, said) => {
  expect(words(text)).toBe(said);
});

it("finds the place of an alias of nothing, and takes no other for one", () => {
  const faultIn = (text: string) => aliasFault(parseDocument(text));
  expect(faultIn("a: &one 1\nb: *one\nc: *.x\n")?.pos[0]).toBe(21);
  expect(faultIn("a: &one 1\nb: [*one, '*.x']\n")).toBeUndefined();
});

it("leaves what it does not know to the parser, and never repeats a value", () => {
  expect(words("a: 'x\nb: 1\n")).toBe("missing closing 'quote");
  expect(words("- https://a.test/x\n  b: 1\n")).not.toContain("colon");
  expect(words("token: *hush-hush\n")).not.toContain("hush");
  expect(words("token:hush-hush\nb: 1\n")).not.toContain("hush");
});
