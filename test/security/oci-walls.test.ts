import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../helpers/installation.ts";

const CONFIGURATION = ["/usr/etc", "/usr/local/etc"].filter((path) => existsSync(path));

describe("walls of an OCI runtime", () => {
  let at: Installation;
  let id: string;
  beforeAll(async () => {
    at = new Installation("oci", { CLOCHE_OCI_RUNTIME: "runc" });
    const project = at.path("project");
    mkdirSync(project);
    writeFileSync(`${project}/seed.txt`, "seed\n");
    id = (await at.sdk.createWorkspace({ environment: "host", seed_path: project })).workspace_id;
  });
  afterAll(() => at[Symbol.asyncDispose]());

  const sh = (workspace: string, command: string) => at.sdk.execWorkspace(workspace, { command });

  it("G-07 kernel files are masked and kernel settings cannot be written", async () => {
    const files = "kcore kallsyms keys timer_list modules cmdline interrupts";
    const { stdout } = await sh(id, `for f in ${files}; do head -c 100 /proc/$f; done 2>/dev/null | wc -c`);
    expect(stdout.trim()).toBe("0");
    expect((await sh(id, "echo x > /proc/sys/kernel/core_pattern")).exit_code).not.toBe(0);
  });

  it("G-01 neither mounts nor cgroups name anything of the host", async () => {
    const { stdout } = await sh(id, "cat /proc/self/mountinfo /proc/self/cgroup");
    expect(stdout).toContain(" /workspace ");
    expect(stdout).not.toMatch(/cloche-|ws-|process|workspaces|seeds|\/upper |\/usr \/usr/);
    expect(stdout.split("\n").filter((line) => /^\d+:[^ ]*:\/(?!commands$)./.test(line))).toEqual([]);
  });

  it("G-05 the host's system folders are read-only whatever their modes say", async () => {
    expect((await sh(id, "mkdir /usr/cloche-evil")).stderr).toContain("Read-only file system");
  });

  it("G-01 configuration of the whole host is not there", async () => {
    const { stdout } = await sh(id, `find ${["/dev/null", ...CONFIGURATION].join(" ")} -mindepth 1 2>/dev/null`);
    expect(stdout).toBe("");
    for (const path of CONFIGURATION) expect((await sh(id, `ls -d ${path}`)).exit_code).not.toBe(0);
  });

  it("G-05 layers that workspaces share cannot be written, though their files are the agent's own", async () => {
    await sh(id, "echo shared > shared.txt");
    await at.sdk.createSnapshot(id, "shared");
    const fork = async () => (await at.sdk.forkWorkspace(id, { snapshot: "shared" })).workspace_id;
    const spoil = "echo spoiled > shared.txt; echo spoiled > seed.txt; rm -f shared.txt seed.txt";
    const one = await fork();
    for (const folder of ["layers/0", "baseline", "upper"]) await sh(one, `cd /.cloche/${folder} && { ${spoil}; }`);
    for (const workspace of [one, await fork()])
      expect((await sh(workspace, "cat shared.txt seed.txt")).stdout).toBe("shared\nseed\n");
  });

  it("G-26 a sandbox has a bounded number of terminals", async () => {
    const program = 'my @t; while (@t < 1000 && open(my $t, "+<", "/dev/ptmx")) { push @t, $t } print scalar @t';
    expect((await at.sdk.execWorkspace(id, { command: ["perl", "-e", program] })).stdout).toBe("128");
    const { shell_id: shell } = await at.sdk.openShell(id);
    await at.sdk.closeShell(id, shell);
  });
});
