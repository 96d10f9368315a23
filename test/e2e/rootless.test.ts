import { describe, expect, it } from "vitest";
import { removeUserFolder, runAsUser, userCache } from "../helpers/as-user.ts";

const STOP = "trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT";

describe("run by an ordinary user", () => {
  it("the whole loop works: create from a project, exec, write, diff, export, delete", async () => {
    const { stdout, stderr, code } = await runAsUser(`set -e; ${STOP}
      mkdir project; echo one > project/a.txt; mkdir project/sub; echo deep > project/sub/b.txt
      ID=$($CLOCHE workspace create --seed-path project --id-only)
      $CLOCHE workspace exec $ID -- sh -c 'id -u; cat a.txt; echo two >> a.txt; rm -r sub; touch ~/x /tmp/y; cat /proc/1/comm'
      $CLOCHE workspace file write $ID notes.txt --text hello > /dev/null
      $CLOCHE workspace diff $ID --json | grep -c '"status"'
      $CLOCHE workspace export $ID a.txt --output out.txt > /dev/null
      cat out.txt project/a.txt
      $CLOCHE workspace delete $ID > /dev/null
      $CLOCHE workspace list --json | tr -d ' \\n'; echo
      ls c/workspaces | wc -l`);
    expect(stderr).toBe("");
    expect(stdout).toBe('1000\none\ncloche-guest\n3\none\ntwo\none\n{"count":0,"workspaces":[]}\n0\n');
    expect(code).toBe(0);
  });

  it("an agent's program of the host becomes a layer of its environment, and runs from there", async () => {
    const { stdout, stderr, code } = await runAsUser(`set -e; ${STOP}
      mkdir -p own $CLOCHE_HOME/bottles $CLOCHE_HOME/agents
      cp /bin/echo own/claude; export PATH=$PWD/own:$PATH
      printf -- '---\\nenvironment: host\\nsupervise: false\\nagent_provider: {template: claude}\\n---\\n' > $CLOCHE_HOME/bottles/dev.md
      printf -- '---\\nbottle: dev\\n---\\n' > $CLOCHE_HOME/agents/tester.md
      $CLOCHE start tester --headless --prompt 'say it' --yes 2> told || { cat told >&2; exit 1; }`);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^--dangerously-skip-permissions --session-id \S+ .*--print -- say it\n$/);
    expect(code).toBe(0);
  });

  it("G-06 G-08 a command has no capability and cannot touch the guest program, though both have the one id there is", async () => {
    const { stdout } = await runAsUser(`${STOP}
      $CLOCHE run -- sh -c 'grep -E "^Cap(Prm|Eff|Bnd|Amb)" /proc/self/status | tr -d "\\n\\t 0"; echo; kill -9 1; kill -STOP 1; cat /proc/1/environ 2>/dev/null; ls /proc/1/fd 2>/dev/null; mount -t tmpfs x /tmp 2>/dev/null && echo mounted; unshare -Ur true 2>/dev/null && echo namespace; echo alive'`);
    expect(stdout).toBe("CapPrm:CapEff:CapBnd:CapAmb:\nalive\n");
  });

  it("G-01 G-03 sees no file of its user and no network", async () => {
    const { stdout } = await runAsUser(`${STOP}
      echo secret > $HOME/secret.txt
      $CLOCHE run -- sh -c "cat $HOME/secret.txt 2>/dev/null; ls /mnt; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"`);
    expect(stdout).toBe("lo\n");
  });

  it("says that a user id without a name cannot build debian:12, and doctor says so before", async () => {
    const cache = await userCache();
    try {
      const script = `${STOP}; rm -r $CLOCHE_CACHE/environments/*; $CLOCHE doctor --json; $CLOCHE env pull debian:12 2>&1`;
      const { stdout } = await runAsUser(script, { cache });
      const reason = "Cannot build the environment: user id 54321 has no name on this host";
      const end = stdout.lastIndexOf("}") + 1;
      const { backends } = JSON.parse(stdout.slice(0, end)) as { backends: object[] };
      expect(backends).toContainEqual(
        expect.objectContaining({
          name: "vm",
          available: true,
          hint: expect.stringContaining(
            `not with debian:12, its default environment. ${reason}. Run cloche as`,
          ) as string,
        }),
      );
      expect(stdout.slice(end).trim()).toMatch(
        new RegExp(`^error: ${reason}\nhint: Run cloche as a user that has one`),
      );
    } finally {
      await removeUserFolder(cache);
    }
  }, 200_000);

  it("says how to allow user namespaces where they are forbidden", async () => {
    const { stdout, code } = await runAsUser(`${STOP}; $CLOCHE run --json -- true`, { userNamespaces: false });
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: "BACKEND_UNAVAILABLE",
        message: expect.stringContaining("user namespaces") as string,
        hint: expect.stringContaining("sysctl") as string,
      },
    });
    expect(code).toBe(125);
  });
});
