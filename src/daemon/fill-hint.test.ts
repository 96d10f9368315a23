import { expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode, failure } from "../model/error-codes.ts";
import { withFilledHint } from "./fill-hint.ts";

const INPUT = { workspace_id: "ws-4", service_name: "web" };

it("puts the workspace and the service of the call into what a hint advises", () => {
  const cause = new Error("why");
  const error = failure("SERVICE_NOT_READY", "No", { details: { exit_code: 1 }, cause });
  expect(withFilledHint(error, INPUT)).toMatchObject({
    code: "SERVICE_NOT_READY",
    message: "No",
    hint: "See `cloche workspace service logs ws-4 web` for all that it printed",
    advice: [["See ", { operation: "logsService", arguments: INPUT }, " for all that it printed"]],
    details: { exit_code: 1 },
    cause,
  });
  expect(withFilledHint(error, { workspace_id: "ws-$&" }).hint).toContain("service logs 'ws-$&' NAME`");
});

it("leaves no ID in any hint of a call about a workspace or a proposal", () => {
  const input = { ...INPUT, proposal_id: "p-0123456789" };
  const hints = (Object.keys(ERROR_CODES) as ErrorCode[]).map(
    (code) => withFilledHint(failure(code, "No"), input).hint,
  );
  for (const hint of hints) expect(hint).not.toMatch(/ ID\b|logs \S+ NAME/);
});

it("leaves all else as it is", () => {
  const other = failure("SECRET_NOT_FOUND", "No");
  expect(withFilledHint(other, INPUT)).toBe(other);
  const lost = failure("SANDBOX_LOST", "No");
  expect(withFilledHint(lost, {}).hint).toBe(lost.hint);
});
