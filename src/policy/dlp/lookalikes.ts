/** Letters of other alphabets that look like ASCII ones: a reader takes them for those, and many programs turn them into those. */
const LETTERS: ReadonlyMap<number, number> = new Map(
  Array.from("АаВвЕеЅѕІіЈјКкМмНнОоРрСсТтУуХхԁΑΒΕΖΗΙΚΜΝΟοΡΤΥΧν", (letter) => letter.codePointAt(0) ?? 0).map(
    (code, at) => [code, "AaBbEeSsIiJjKkMmHhOoPpCcTtYyXxdABEZHIKMNOoPTYXv".charCodeAt(at)],
  ),
);

const FULL_WIDTH = 0xff01;
const MATHEMATICAL = 0x1d400;
const MATHEMATICAL_DIGITS = 0x1d7ce;
/** Characters that nobody sees: one for each of ASCII, … */
const TAGS = 0xe0000;
/** … and selectors of variants, by which bytes from 16 on are written. */
const SELECTORS = 0xe0100;

/** The ASCII character that a code point stands for, for a reader or for a program that hides text; or undefined. */
export function lookalikeOf(code: number): number | undefined {
  if (code < 0x370) return undefined;
  if (code >= FULL_WIDTH && code <= 0xff5e) return code - FULL_WIDTH + 0x21;
  if (code >= MATHEMATICAL_DIGITS && code <= 0x1d7ff) return 0x30 + ((code - MATHEMATICAL_DIGITS) % 10);
  if (code >= MATHEMATICAL && code < 0x1d6a4) {
    const letter = (code - MATHEMATICAL) % 52;
    return letter < 26 ? 0x41 + letter : 0x47 + letter;
  }
  if (code >= TAGS + 0x20 && code < TAGS + 0x7f) return code - TAGS;
  if (code >= SELECTORS && code < SELECTORS + 0x70) return code - SELECTORS + 0x10;
  return LETTERS.get(code);
}
