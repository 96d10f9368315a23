import { type ClocheError, errnoOf, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { type Endpoint, settingHost } from "./endpoint.ts";

/** The engine has answered, and refused. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "EngineRefusal";
    this.status = status;
  }
}

export const isRefusal = (error: unknown, status?: number): error is EngineRefusal =>
  error instanceof EngineRefusal && (status === undefined || error.status === status);

/** The engine has not answered, or broke off. */
export function unreachable({ address, source }: Endpoint, error: unknown): ClocheError {
  const options = { details: { address, source }, cause: error };
  switch (errnoOf(error)) {
    case "ENOENT":
    case "ECONNREFUSED":
      return failure("BACKEND_UNAVAILABLE", `No Docker engine answers at ${address}`, {
        ...options,
        hint: `Start it (systemctl start docker), install it (apt-get install docker.io), or ${settingHost("where one is")}`,
      });
    case "EACCES":
      return failure("BACKEND_UNAVAILABLE", `This user may not talk to the Docker engine at ${address}`, {
        ...options,
        hint: "Add the user to the group docker (usermod -aG docker NAME), log in again and run `cloche daemon stop`",
      });
    default:
      return failure("BACKEND_UNAVAILABLE", `The Docker engine at ${address} went away: ${messageOf(error)}`, {
        ...options,
        hint: "See that the engine runs (docker info) and what its log says, then try again",
      });
  }
}

/** A refusal as the verb's caller is told it. */
export function refused(what: string, error: EngineRefusal): ClocheError {
  const options = { details: { status: error.status }, cause: error };
  if (/no space left on device|disk quota exceeded/i.test(error.message)) {
    return failure("DISK_FULL", `${what}: no space is left where the Docker engine keeps its data`, {
      ...options,
      hint: "Free some space there (docker system df tells where it went), then try again",
    });
  }
  if (error.status === 401 || error.status === 403) {
    return failure("BACKEND_UNAVAILABLE", `${what}: the Docker engine does not allow it (${error.message})`, {
      ...options,
      hint: `Ask who runs the engine which authorization plugin refuses it, or ${settingHost("another engine")}`,
    });
  }
  return failure("SANDBOX_START_FAILED", `${what}: ${error.message}`, {
    ...options,
    hint: "See the engine's own log (journalctl -u docker), and `cloche doctor`",
  });
}
