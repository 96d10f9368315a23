import stringWidth from "string-width";
import { expect, it } from "vitest";
import { columnsOf, cut, fill, wrap } from "./columns.ts";
import { show } from "./shown.ts";

it("counts columns, not letters", () => {
  expect([columnsOf("abc"), columnsOf("名前"), columnsOf("e\u0301")]).toEqual([3, 4, 1]);
});

it("takes each sign that is not measured for as wide as it is", () => {
  const narrow = ["…", "─", "│", "▸", "·", "—"];
  for (const sign of narrow) expect(stringWidth(sign), sign).toBe(1);
  expect(columnsOf(`${narrow.join("")}a名`)).toBe(9);
  expect(wrap(show`${narrow.join("")}`, 4)).toEqual(["…─│▸", "·—"]);
});

it("cuts and fills to a width", () => {
  expect([cut(show`abcdef`, 4), cut(show`abc`, 3), cut(show`名前名前`, 5), cut(show`abc`, 0)]).toEqual([
    "abc…",
    "abc",
    "名前…",
    "",
  ]);
  expect([fill(show`ab`, 4), fill(show`名前`, 3)]).toEqual(["ab  ", "名…"]);
});

it.each([
  ["one two three", 8, ["one two", "three"]],
  ["    indented text", 12, ["    indented", "text"]],
  ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
  ["名前名前", 5, ["名前", "名前"]],
  ["", 5, [""]],
  ["名", 1, ["名"]],
])("wraps %j at %d", (text, columns, lines) => {
  expect(wrap(show`${text}`, columns)).toEqual(lines);
});
