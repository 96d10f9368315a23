import { failure } from "../../model/error-codes.ts";

/** What a tool may not reach; the hint names the option with which the operator lets it. */
export function refused(what: string, option: string, instead = ""): Error {
  const hint = `${instead}the operator of the server can allow it with ${option}`;
  return failure("HOST_ACCESS_REFUSED", what, { hint: `${hint.charAt(0).toUpperCase()}${hint.slice(1)}` });
}
