import { messageOf } from "../base/errors.ts";
import { openGateLog } from "./gate-log.ts";
import { runGate } from "./gate.ts";
import { hostConnections } from "./host-connections.ts";
import { becomeOwnUser } from "./own-user.ts";
import { readPreparedNeedles } from "./prepared-needles.ts";

/** The gate as a process, which `cloche-guest gate-keeper` starts. Its argument is for readers of a list of processes. */
const log = openGateLog({ current: 2, older: 7 });
process.on("uncaughtException", (error) => {
  // What state it is in is unknown: it ends, and its keeper starts it again.
  log.error("uncaught exception", { error: error.stack ?? messageOf(error) });
  process.exit(1);
});
process.once("SIGTERM", () => process.exit(0));
readPreparedNeedles();
becomeOwnUser();
runGate({ order: [3, 4], control: 5 }, hostConnections(), log);
