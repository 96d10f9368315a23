import { ALNUM, entropyOf, sample, shaped } from "./rule-shapes.ts";

/** Bits of a character from which on a value looks as if a generator made it. */
const RANDOM_BITS = 3.7;

/** Guesses, for a log. They stop nothing. */
export const HINT_RULES = [
  shaped({
    id: "random-looking-value",
    description: "A random-looking value with a telling name",
    detector: "entropy",
    severity: "hint",
    keywords: [
      "password",
      "PASSWORD",
      "secret",
      "SECRET",
      "Secret",
      "token",
      "TOKEN",
      "Token",
      "api_key",
      "API_KEY",
      "apiKey",
      "apikey",
      "api-key",
    ],
    pattern:
      /(?:password|secret|token|api[_-]?key)["'`\\\]]{0,3}\s{0,3}(?:=>|:=|[:=])\s{0,3}["'`\\]{0,3}(?<value>[A-Za-z0-9+/=_.~!@#$%^&*-]{16,128})/i,
    accept: (value) => /[0-9]/.test(value) && /[A-Za-z]/.test(value) && entropyOf(value) > RANDOM_BITS,
    hit: () => `api_key = "${sample(ALNUM, 40)}"`,
    miss: () => 'api_key = "the-name-of-a-variable"',
  }),
];
