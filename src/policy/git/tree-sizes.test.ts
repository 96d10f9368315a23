import { expect, it } from "vitest";
import { TreeSizes } from "./tree-sizes.ts";

const idOf = (number: number) => number.toString(16).padStart(40, "0");
const entry = (mode: string, name: string, id: string) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);

it("counts the paths of trees that hold each other, however many and deep", () => {
  const sizes = new TreeSizes();
  expect(sizes.largest).toBe(0);
  sizes.add(
    idOf(1),
    Buffer.concat([
      entry("100644", "a", idOf(900)),
      entry("120000", "b", idOf(901)),
      entry("40000", "known", idOf(902)),
    ]),
  );
  expect(sizes.largest).toBe(3);
  for (let depth = 2; depth <= 12; depth++)
    sizes.add(
      idOf(depth),
      Buffer.concat(
        Array.from({ length: 10 }, (_, at) => entry(at % 2 === 0 ? "40000" : "040000", `n${at}`, idOf(depth - 1))),
      ),
    );
  expect(sizes.largest).toBe(3 * 10 ** 11);
  const deep = new TreeSizes();
  for (let depth = 1; depth <= 50_000; depth++) deep.add(idOf(depth), entry("40000", "d", idOf(depth - 1)));
  expect(deep.largest).toBe(1);
});
