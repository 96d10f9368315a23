import type { ExecutionMode } from "../model/names.ts";
import type { Dependencies } from "./dependencies.ts";

/** How commands get into the sandboxes of a backend, also of one that this installation has no more. */
export const executionModeOf = ({ backends }: Pick<Dependencies, "backends">, backend: string): ExecutionMode =>
  backends.get(backend)?.executionMode ?? "guest_socket";
