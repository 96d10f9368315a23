import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cloche } from "../../src/sdk/cloche.ts";
import { USER_ID, runAsUser } from "../helpers/as-user.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { HostInodes, LOCKS } from "../helpers/host-inodes.ts";
import { PROJECT, runProcess } from "../helpers/installation.ts";

const canary = randomBytes(8).toString("hex");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync("/usr/local/cloche-test-");
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a sandbox finds of a place: files with the canary, the daemon's socket, the place itself. */
const search = (place: string) => `
  cat ${place}/secret; echo spoiled > ${place}/secret; ls -a ${place}
  grep -rl ${canary} ${folder}; find ${folder} -type s; find / -maxdepth 3 -xdev -name daemon.sock
  perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); print "connected" if connect(S, pack_sockaddr_un($ARGV[0]))' ${place}/.cloche/daemon.sock
  grep -c ${place} /proc/self/mountinfo; test -x /usr/bin/env && echo and /usr works`;

async function withDaemon(cloche: Cloche, body: (cloche: Cloche) => Promise<void>): Promise<void> {
  try {
    await body(cloche);
  } finally {
    for (const { workspace_id: id } of (await cloche.listWorkspaces()).workspaces) await cloche.deleteWorkspace(id);
    await cloche.stopDaemon();
    await cloche.close();
  }
}

const NOTHING = "0\nand /usr works\n";

describe("G-01 G-02 places that must not show, below a folder of the host that does", () => {
  it.each(["as it is", "by a link"])(
    "G-01 a user's home is not there, %s, and the daemon in it not reached",
    async (how) => {
      chownSync(folder, USER_ID, USER_ID);
      const home = how === "by a link" ? "/mnt/home/me" : folder;
      const { stdout, stderr } = await runAsUser(`
      [ ${home} = ${folder} ] || ln -s ${folder} ${home}
      export HOME=${home} CLOCHE_HOME=${home}/.cloche CLOCHE_CACHE=${home}/.cache
      trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      (umask 077; echo ${canary} > ${folder}/secret)
      $CLOCHE run -- sh -c "$(cat <<'END'
exec 2>/dev/null
${search(folder)}
END
)"
      [ $(cat ${folder}/secret) = ${canary} ] && echo and the secret is whole`);
      expect(stderr).toBe("");
      expect(stdout).toBe(`${NOTHING}and the secret is whole\n`);
    },
  );

  it.each([
    { name: "the launcher's own wall", env: {} },
    { name: "runc", env: { CLOCHE_OCI_RUNTIME: "runc" } },
    { name: "runsc", env: { CLOCHE_OCI_RUNTIME: "runsc" } },
  ])("G-01 root's cloche home and cache are not there, by whatever name, $name", async ({ env }) => {
    const real = join(folder, "real");
    mkdirSync(real);
    symlinkSync(real, join(folder, "link"));
    writeFileSync(join(real, "secret"), canary);
    const place = join(folder, "link");
    const cloche = new Cloche({
      home: join(place, ".cloche"),
      env: { ...process.env, HOME: place, CLOCHE_CACHE: join(place, ".cache"), ...env },
    });
    await withDaemon(cloche, async () => {
      const { workspace_id: id } = await cloche.createWorkspace({ environment: "host" });
      const command = `exec 2>/dev/null; ${search(real)}`;
      expect((await cloche.execWorkspace(id, { command })).stdout).toBe(NOTHING);
      // What is hidden is found anew at each start.
      await cloche.stopWorkspace(id);
      await cloche.startWorkspace(id);
      expect((await cloche.execWorkspace(id, { command })).stdout).toBe(NOTHING);
      await cloche.deleteWorkspace(id);
    });
  });

  it("G-01 a user's home is not there on docker, and a cloche home there is refused, because it cannot be covered", async () => {
    await using engine = await DockerEngine.start();
    const home = mkdtempSync(join(tmpdir(), "cl-hp-"));
    writeFileSync(join(folder, "secret"), canary);
    const env = { ...process.env, HOME: folder, CLOCHE_BACKEND: "docker", ...engine.env };
    const create = async (cloche: Cloche) => await cloche.createWorkspace({ environment: "host" });
    try {
      await withDaemon(new Cloche({ home, env }), async (cloche) => {
        const { workspace_id: id } = await create(cloche);
        const command = `exec 2>/dev/null; ${search(folder)}`;
        expect((await cloche.execWorkspace(id, { command })).stdout).toBe(NOTHING);
        await cloche.stopWorkspace(id);
        await cloche.startWorkspace(id);
        expect((await cloche.execWorkspace(id, { command })).stdout).toBe(NOTHING);
        await cloche.deleteWorkspace(id);
      });
      await withDaemon(new Cloche({ home: join(folder, ".cloche"), env }), async (cloche) => {
        await expect(create(cloche)).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
      });
      expect(await engine.leftovers()).toEqual([]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it("G-01 the home of another account is not there", async () => {
    mkdirSync(join(folder, "people/ann"), { recursive: true });
    writeFileSync(join(folder, "people/ann/secret"), canary);
    writeFileSync(join(folder, "people/note"), "public\n");
    writeFileSync(join(folder, "passwd"), `ann:x:1234:1234::${folder}/people/ann:/bin/sh\n`);
    const program = `${process.execPath} ${PROJECT}/dist/cli/main.js`;
    const { stdout, stderr } = await runProcess("unshare", [
      ...["--mount", "--propagation", "private", "sh", "-c"],
      `cat /etc/passwd >> ${folder}/passwd; mount --bind ${folder}/passwd /etc/passwd
      export CLOCHE_HOME=$(mktemp -d)
      ${program} run -- sh -c 'ls ${folder}/people; cat ${folder}/people/note; grep -rl ${canary} ${folder}; ls -d ${folder}/people/ann 2> /dev/null'
      ${program} daemon stop > /dev/null; rm -r "$CLOCHE_HOME"`,
    ]);
    expect(stderr).toBe("");
    expect(stdout).toBe("note\npublic\n");
  });

  it("G-02 inodes of the host serve no sandbox of a user either, though some of them are the user's own", async () => {
    await using host = await HostInodes.make("/usr/local", USER_ID);
    const file = host.path("file");
    const { stdout, stderr } = await runAsUser(`
      trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      cat > locks.pl <<'END'
${LOCKS}
END
      id=$($CLOCHE workspace create --id-only)
      inside() { $CLOCHE workspace exec $id -- "$@"; }
      inside perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); print connect(S, pack_sockaddr_un($ARGV[0])) ? <S> : "refused\\n"' ${host.path("socket")}
      inside perl -e "$(cat locks.pl)" hold ${file} | cut -d' ' -f2-
      inside perl -e "$(cat locks.pl)" lease ${file} | cut -d' ' -f2-
      perl locks.pl try ${file} write
      timeout 5 sh -c 'echo changed > ${file}' && echo written
      $CLOCHE workspace delete $id > /dev/null`);
    expect(stderr).toBe("");
    expect(stdout).toBe("refused\nflock posix ofd\nlease\nflock posix ofd\nwritten\n");
    expect(host.connections).toBe(0);
  });
});
