import { expect, it } from "vitest";
import { readPolicyDocument } from "./policy-document.ts";

it.each([
  ["egress:\n  routes:\n    - host: *.example.com\n", 3, "needs quotes"],
  [
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c]\n",
    1,
    "alias",
  ],
])("tells what only the value of a document shows, with a line: %j", (text, line, words) => {
  expect(readPolicyDocument(text)).toEqual({ line, problem: expect.stringContaining(words) as string });
});
