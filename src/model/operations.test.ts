import { expect, it } from "vitest";
import type { z } from "zod";
import { INPUTS } from "./operation-inputs.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import { typeOnly } from "./operation.ts";

/** What such a workspace has done is told also when it is gone. */
const ALSO_WHEN_GONE: readonly OperationName[] = ["learnEgress"];
const rows = Object.entries(OPERATIONS) as [OperationName, Operation][];

it("every operation that has to have the id of a workspace says what it needs of it", () => {
  const needsId = (shape: Readonly<Record<string, z.ZodType>>) =>
    shape["workspace_id"]?.safeParse(undefined).success === false;
  const withId = rows.filter(([name]) => needsId(INPUTS[name].shape)).map(([name]) => name);
  const saidSo = rows.filter(([, { about }]) => about === "record" || about === "sandbox").map(([name]) => name);
  expect(saidSo).toEqual(withId.filter((name) => !ALSO_WHEN_GONE.includes(name)));
  expect(saidSo.length).toBeGreaterThan(30);
});

it("every input refuses a key that it does not know", () => {
  for (const [name] of rows) {
    const { error } = INPUTS[name].safeParse({ no_such_key: 1 });
    expect(error?.issues, name).toContainEqual(expect.objectContaining({ code: "unrecognized_keys" }));
  }
});

it("a row that leaves a fact out, or is about a workspace that it does not name, does not compile", () => {
  const whole = {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<{ done: boolean }>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: null,
    mcp: null,
  } as const satisfies Operation;
  const { repeatable, ...forgotten } = whole;
  // @ts-expect-error nobody said whether it may be asked again
  const _first: Operation = forgotten;
  // @ts-expect-error there is no workspace in its input
  const _second: Operation = { ...whole, input: ({ z }) => z.strictObject({}) };
  // @ts-expect-error a command says what its first frame is, and whether it takes input
  const _third: Operation = { ...whole, kind: "command" };
  expect([repeatable, _first, _second, _third]).toHaveLength(4);
});
