import { expect, it } from "vitest";
import { FakeGuest, pack } from "../../test/guest/fake-guest.ts";
import { GUEST, HOST } from "../guest/frame-types.ts";
import { NO_SECRETS } from "./secrets.ts";
import { RunningCommand } from "./running-command.ts";

it("G-10 a guest that never tells the end of a command is not waited for", async () => {
  const guest = new FakeGuest();
  const client = await guest.connect();
  const process = client.spawn({ argv: ["true"], env: {}, cwd: "/", user: { uid: 1000, gid: 1000 } });
  const { stream } = await guest.frame(HOST.SPAWN);
  guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 10]));
  await process.started;
  const running = new RunningCommand(process, NO_SECRETS.redactor);
  await expect(running.finish(undefined, 50)).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  client.close();
});
