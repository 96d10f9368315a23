import { expect, it } from "vitest";
import { failure } from "../../model/error-codes.ts";
import { command as create } from "../commands/workspace-create.ts";
import { command as snapshot } from "../commands/workspace-snapshot-create.ts";
import { nameOption } from "./name-option.ts";

const refused = (argument: string, problem: string) =>
  failure("INVALID_ARGUMENT", `Cannot do it: ${problem}`, { details: { argument, problem } });

it.each([
  [create, "mem_mib", '"mem_mib" must be at least 64', "--mem-mib must be at least 64"],
  [create, "labels.a", '"labels.a" must have at most 256 characters', "--label must have at most 256 characters"],
  [snapshot, "snapshot_name", '"snapshot_name" is not valid', "NAME is not valid"],
])("names what was typed: %#", (command, argument, problem, message) => {
  expect(nameOption(refused(argument, problem), command)).toMatchObject({ code: "INVALID_ARGUMENT", message });
});

it("leaves an error alone that is about nothing that was typed", () => {
  const error = refused("read_scope", '"read_scope" is missing');
  expect(nameOption(error, create)).toBe(error);
});
