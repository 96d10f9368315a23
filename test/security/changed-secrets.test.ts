import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runAsUser } from "../helpers/as-user.ts";
import { withInstallation } from "../helpers/installation.ts";
import { guestPids, killDaemon } from "../helpers/running-daemon.ts";

const TOKEN = "tok-5b1e90c44f-secret";
const FILE = "/run/cloche/secrets/TOKEN";

/** Where commands have the guest program's id they can write its files. */
const CHANGES = [
  `: > ${FILE}`,
  `echo another-value > ${FILE}`,
  `rm -f ${FILE}`,
  `rm -f ${FILE}; mkdir ${FILE}`,
  `rm -f ${FILE}; mkfifo ${FILE}`,
  `rm -f ${FILE}; ln -s /dev/zero ${FILE}`,
];

describe("G-17 a sandbox that changes what it was given as a secret", () => {
  it("G-17 is ended by the next daemon, run by an ordinary user: nothing is shown, and others go on", async () => {
    const attacks = CHANGES.map(
      (change) => `
      id=$($CLOCHE workspace create --id-only --secret TOKEN=${TOKEN})
      $CLOCHE workspace service start $id leak --secret-env TOKEN=T -- sh -c 'while :; do echo "now $T"; sleep 0.1; done' > /dev/null
      $CLOCHE workspace exec $id -- sh -c 'chmod -R u+w /run/cloche/secrets; ${change}'
      ids="$ids $id"`,
    );
    const { stdout, stderr } = await runAsUser(
      `trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      ${attacks.join("")}
      good=$($CLOCHE workspace create --id-only --secret TOKEN=${TOKEN})
      pid=$($CLOCHE daemon status --json | grep -o '"pid": *[0-9]*' | tr -dc 0-9)
      kill -9 $pid; while kill -0 $pid 2> /dev/null; do sleep 0.02; done
      $CLOCHE workspace exec $good --secret-env TOKEN=T -- sh -c 'echo "good $T"'
      for id in $ids; do
        $CLOCHE workspace service logs $id leak 2>&1 | head -1
        $CLOCHE workspace status $id --json | tr -d ' \\n' | grep -o '"state":"[a-z]*"'
      done
      $CLOCHE workspace start $id > /dev/null && $CLOCHE workspace exec $id -- echo again
      $CLOCHE workspace exec $id --secret-env TOKEN=T -- true 2>&1 | head -1
      for one in $ids $good; do $CLOCHE workspace delete $one > /dev/null; done`,
      { timeoutMs: 170_000 },
    );
    expect(stdout).not.toContain(TOKEN);
    const ended = `error: Workspace ID is failed: Secret "TOKEN" was changed in the sandbox of workspace ID\n"state":"failed"\n`;
    expect(stdout.replaceAll(/ws-\w+/g, "ID")).toBe(
      `good [REDACTED]\n${ended.repeat(CHANGES.length)}again\nerror: The workspace has no secret "TOKEN"\n`,
    );
    expect(stderr).toBe("");
  }, 180_000);

  it("G-17 is ended, too, where only its guest program could have done it", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({
        environment: "host",
        secrets: [{ name: "TOKEN", value: TOKEN }],
      });
      const [guest] = guestPids(at.home, id);
      writeFileSync(`/proc/${guest}/root${FILE}`, "");
      await killDaemon(at);
      await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toThrow(
        expect.objectContaining({ code: "WORKSPACE_NOT_RUNNING" }) as Error,
      );
      expect(await at.sdk.statusWorkspace(id)).toMatchObject({
        state: "failed",
        state_reason: `Secret "TOKEN" was changed in the sandbox of workspace ${id}`,
      });
    });
  });
});
