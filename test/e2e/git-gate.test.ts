import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { gateOf } from "../helpers/gate-of.ts";
import { type GitWebServer, hostGit, makeUpstream, refsOf, serveWithHttpBackend } from "../helpers/git-server.ts";
import { Installation, eventually, processesNaming } from "../helpers/installation.ts";
import { SshServer } from "../helpers/ssh-server.ts";

const IDENTITY = { name: "Review Agent", email: "agent@example.com" };
const DUMP =
  "{ env; git config --list --show-origin; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; find /home /workspace /tmp /run /etc -type f -size -512k -exec cat {} +; } 2>/dev/null | gzip -c | base64 -w0";

describe("the git gate of a run", () => {
  let at: Installation;
  let agents: BottledAgents;
  let web: GitWebServer;
  let ssh: SshServer;
  let upstreams: string;
  const token = `tok-${randomBytes(20).toString("hex")}`;

  beforeAll(async () => {
    at = new Installation("git");
    agents = new BottledAgents(at);
    upstreams = at.path("upstreams");
    for (const name of ["over-ssh", "over-http", "over-file"]) makeUpstream(upstreams, name);
    web = await serveWithHttpBackend(upstreams);
    web.wanted = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
    ssh = new SshServer(at.path("ssh"));
    await ssh.start();
  });

  afterAll(async () => {
    await ssh[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    await at[Symbol.asyncDispose]();
  });

  const overSsh = (more: object = {}) => ({
    url: ssh.url(`${upstreams}/over-ssh.git`),
    host_key: ssh.publicKey("host"),
    key: { provider: "static", path: ssh.key },
    ...more,
  });
  const variables = { GIT_TOKEN: token };

  it("G-83 G-91 G-157 carries clones and pushes over ssh, http and files, and has no key or token in the sandbox", async () => {
    // An upstream that shows the credential which it was given.
    const hook = `${upstreams}/over-http.git/hooks/post-receive`;
    writeFileSync(hook, `#!/bin/sh\necho "came in with ${token}"\n`);
    chmodSync(hook, 0o755);
    const urls = {
      ssh: ssh.url(`${upstreams}/over-ssh.git`),
      http: `${web.url}/over-http.git`,
      file: `file://${upstreams}/over-file.git`,
    };
    const work = (kind: keyof typeof urls) =>
      `git clone -q ${urls[kind]} ${kind} && cd ${kind} && echo ${kind} > mine && git add mine && git commit -q -m mine && git push -q origin HEAD:agent/${kind} && git fetch -q && git rev-parse HEAD && cd ..`;
    agents.agent(
      "ways",
      `${work("ssh")}; ${work("http")}; ${work("file")}; echo "$GIT_TOKEN"; until test -e go; do sleep 0.1; done; ${DUMP}`,
      {
        bottle: {
          git: {
            user: IDENTITY,
            repos: {
              "over-ssh": overSsh(),
              "over-http": { url: urls.http, auth: { token_ref: "GIT_TOKEN" } },
              "over-file": { url: urls.file },
            },
          },
        },
      },
    );
    const { identity } = await at.sdk.startRun("ways", agents.options({ variables }));
    const following = agents.follow(at.sdk.attachRun(identity));
    await eventually(
      async () => expect((await at.sdk.logsWorkspace(identity)).entries[0]?.stdout).toMatch(/^([0-9a-f]{40}\n){3}/),
      60,
    );
    // While its gate runs, and after it has used them.
    expect(processesNaming(token)).toEqual([]);
    await at.sdk.writeWorkspaceFile(identity, "go", { text: "" });
    const { stdout, stderr, end } = await following;
    expect(end.exit_code, stderr).toBe(0);
    const [one, two, three, standIn = "", dump = ""] = stdout.split("\n");
    expect(standIn).toMatch(/^cloche-stand-in-[0-9a-f]{48}$/);
    expect(stderr).toMatch(/remote: came in with REDACTED/);
    expect(stderr).not.toContain(token);
    expect(refsOf(`${upstreams}/over-ssh.git`)["refs/heads/agent/ssh"]).toBe(one);
    expect(refsOf(`${upstreams}/over-http.git`)["refs/heads/agent/http"]).toBe(two);
    expect(refsOf(`${upstreams}/over-file.git`)["refs/heads/agent/file"]).toBe(three);
    expect(hostGit(`${upstreams}/over-ssh.git`, ["log", "-1", "--format=%an <%ae> %cn <%ce>", "agent/ssh"])).toBe(
      "Review Agent <agent@example.com> Review Agent <agent@example.com>",
    );
    const seen = gunzipSync(Buffer.from(dump, "base64")).toString("latin1");
    expect(seen).toContain("127.0.0.1:9418/over-ssh");
    expect(seen).not.toContain(token);
    const lines = readFileSync(ssh.key, "utf8").trim().split("\n").slice(2, -1);
    for (const line of lines) expect(seen).not.toContain(line);
    expect(seen).not.toMatch(/SSH_AUTH_SOCK=./);
    const grep = (text: string) =>
      execFileSync("sh", ["-c", 'grep -rlFs -e "$1" "$2" || true', "sh", text, at.home], { encoding: "utf8" });
    expect(grep(token)).toBe("");
    const events: ClocheEvent[] = [];
    for await (const event of at.sdk.watch({ identity, since: 0, follow: false })) events.push(event);
    expect(events.filter(({ kind }) => kind === "push.accepted")).toMatchObject([
      { repo: "over-ssh", refs: ["refs/heads/agent/ssh"] },
      { repo: "over-http", refs: ["refs/heads/agent/http"] },
      { repo: "over-file", refs: ["refs/heads/agent/file"] },
    ]);
  });

  it("does over ssh what the rules allow: force, tags, deletion, several refs at once, options; and all or nothing", async () => {
    const path = makeUpstream(upstreams, "open-ssh");
    const hook = `${path}/hooks/pre-receive`;
    writeFileSync(hook, '#!/bin/sh\necho "options: $GIT_PUSH_OPTION_COUNT $GIT_PUSH_OPTION_0"\n');
    chmodSync(hook, 0o755);
    const url = ssh.url(path);
    agents.agent(
      "open",
      `exec 2>&1; set -e; git clone -q ${url} w; cd w; echo 1 > f; git add f; git commit -q -m one
      git push -q origin HEAD:agent/x HEAD:agent/gone
      git commit -q --amend -m another; ! git push -q origin HEAD:agent/x 2>/dev/null; git push -q --force origin HEAD:agent/x
      git tag -a v1 -m first; git push --atomic -o ci.skip origin v1 HEAD:agent/y
      git push -q origin --delete agent/gone
      echo 2 > f; git commit -q -a -m two; ! git push --atomic origin HEAD:agent/x HEAD:main~bad HEAD:agent/z
      ! git push origin HEAD:agent/x HEAD:denied; git ls-remote origin; git rev-parse HEAD~`,
      {
        bottle: {
          git: {
            user: IDENTITY,
            repos: {
              open: overSsh({
                url,
                rules: { branches: ["agent/*"], tags: "allow", force: "allow", delete: "allow" },
              }),
            },
          },
        },
      },
    );
    const { stdout, end } = await agents.run("open");
    expect(end.exit_code, stdout).toBe(0);
    expect(stdout).toContain("options: 1 ci.skip");
    expect(stdout).toContain("the branch denied is denied");
    const tip = stdout.trim().split("\n").at(-1);
    const { "refs/heads/main": main, "refs/tags/v1": tag, ...rest } = refsOf(path);
    expect([main !== undefined, tag !== undefined]).toEqual([true, true]);
    expect(rest).toEqual({ "refs/heads/agent/x": tip, "refs/heads/agent/y": tip });
  });

  it("carries 5,000 commits and 200 MB over ssh, two agents at once, and says when the upstream has moved on", async () => {
    const path = makeUpstream(upstreams, "large");
    const url = ssh.url(path);
    const repos = { large: overSsh({ url }) };
    const rival =
      "git fetch -q && git checkout -q -B both origin/both && echo $NAME > $NAME && git add $NAME && git commit -q -m $NAME";
    agents.agent(
      "large",
      `exec 2>&1; set -e; git clone -q ${url} w; cd w; git config core.compression 0; git config pack.compression 0
      who="Review Agent <agent@example.com> 1700000000 +0000"
      seq 5000 | awk -v who="$who" -v from=$(git rev-parse HEAD) '{ printf "commit refs/heads/many\\ncommitter %s\\ndata 1\\nx\\n%sM 100644 inline d%d/f%d\\ndata 5\\n%04d\\n\\n", who, NR == 1 ? "from " from "\\n" : "", NR % 50, NR, NR % 10000 }' | git fast-import --quiet
      git push -q origin many; git push -q origin HEAD:both
      head -c 4194304 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' > part; for n in $(seq 25); do cat part; done > large.bin; git add large.bin; git commit -q -m large; git push -q origin HEAD:large
      touch ../pushed; until test -e ../go; do sleep 0.1; done
      git clone -q ${url} again; git -C again rev-list --count origin/many; test $(git -C again cat-file -s origin/large:large.bin) = 209715200 && echo whole
      NAME=one; ${rival}; touch ../ready; until test -e ../moved; do sleep 0.1; done; git push origin both || { git pull -q --rebase origin both; git push -q origin both; }; echo done`,
      { bottle: { git: { user: IDENTITY, repos } } },
    );
    agents.agent(
      "rival",
      `exec 2>&1; git clone -q ${url} w && cd w && NAME=two; ${rival}; git push -q origin both && echo done`,
      { bottle: { git: { user: IDENTITY, repos } } },
    );
    const { identity } = await at.sdk.startRun("large", agents.options());
    const following = agents.follow(at.sdk.attachRun(identity));
    const early = following.then(({ stdout }) => {
      throw new Error(`it ended too early: ${stdout}`);
    });
    early.catch(() => undefined);
    const isThere = async (name: string) => {
      const found = eventually(async () => void (await at.sdk.readWorkspaceFile(identity, name)), 250);
      found.catch(() => undefined);
      await Promise.race([found, early]);
    };
    await isThere("pushed");
    await at.sdk.writeWorkspaceFile(identity, "go", { text: "" });
    await isThere("ready");
    const other = await agents.run("rival");
    expect(other.stdout).toBe("done\n");
    await at.sdk.writeWorkspaceFile(identity, "moved", { text: "" });
    const { stdout, end } = await following;
    expect(end.exit_code, stdout).toBe(0);
    expect(stdout).toMatch(/^5001\nwhole$/m);
    expect(stdout).toMatch(/\[rejected\] +both -> both \(fetch first\)/);
    expect(hostGit(path, ["log", "--format=%s", "both"]).split("\n").slice(0, 2)).toEqual(["one", "two"]);
  }, 500_000);

  it("G-91 G-117 refuses a host that shows another key, and shows both fingerprints; tells what else is wrong with an upstream, also at its own name", async () => {
    const named = "https://git.example.test/team/named.git";
    // As a tool asks that knows neither `insteadOf` nor, the second time, a proxy.
    const unaware = `GIT_CONFIG_GLOBAL=/dev/null git ls-remote ${named}; env -u HTTPS_PROXY -u https_proxy GIT_CONFIG_GLOBAL=/dev/null git ls-remote ${named}`;
    agents.agent(
      "wrong",
      `for name in other nobody denied absent; do git ls-remote http://127.0.0.1:9418/$name; done; ${unaware}; exit 0`,
      {
        bottle: {
          git: {
            repos: {
              other: overSsh({ host_key: ssh.publicKey("other") }),
              nobody: { url: "http://127.0.0.1:9/nobody.git" },
              denied: { url: `${web.url}/over-http.git` },
              absent: { url: `file://${upstreams}/absent.git` },
              named: { url: named },
            },
          },
        },
      },
    );
    const { stderr } = await agents.run("wrong");
    expect(stderr).toContain(`pinned is ${ssh.fingerprint("other")}, and the host shows ${ssh.fingerprint("host")}`);
    expect(stderr).toMatch(/127\.0\.0\.1:9 cannot be reached/);
    expect(stderr).toMatch(/asks for a credential, and the repository has no `auth`/);
    expect(stderr).toMatch(/file has no such repository/);
    expect([...stderr.matchAll(/git\.example\.test:443 cannot be reached/g)].length, stderr).toBe(2);
  });

  it("is not begun with a key that is missing or open, without a pin, or without a token", async () => {
    const open = at.path("open-key");
    writeFileSync(open, "key\n");
    chmodSync(open, 0o644);
    const cases: [object, RegExp][] = [
      [overSsh({ key: { provider: "static", path: at.path("no-key") } }), /is not there/],
      [overSsh({ key: { provider: "static", path: open } }), /can be read by others/],
      [overSsh({ host_key: "ssh-ed25519 nonsense" }), /no public key of a host/],
      [
        overSsh({ host_key: undefined }),
        new RegExp(`no \`host_key\`.*${ssh.fingerprint("host").replaceAll(/[+/]/g, "\\$&")}`),
      ],
      [{ url: ssh.url("/x.git"), host_key: ssh.publicKey("host") }, /has no `key`/],
      [{ url: `${web.url}/x.git`, auth: { token_ref: "NO_SUCH_TOKEN" } }, /NO_SUCH_TOKEN/],
    ];
    for (const [repo, message] of cases) {
      agents.agent("bad", "true", { bottle: { git: { repos: { app: repo } } } });
      await expect(at.sdk.startRun("bad", agents.options())).rejects.toThrow(message);
    }
    expect(agents.states()).toEqual([]);
  });

  it("G-83 has the host sign commits and tags of the agent's own, and nothing else", async () => {
    const url = `file://${upstreams}/over-file.git`;
    agents.agent(
      "signed",
      `git clone -q ${url} w && cd w && echo 1 > s && git add s && git commit -q -m signed && git push -q origin HEAD:agent/signed
      own=$(git cat-file commit HEAD | sed '/^gpgsig/,/END SSH SIGNATURE/d')
      ask() { printf '%s\n' "$1" | curl -s --noproxy '*' --data-binary @- http://127.0.0.1:9418/-/sign | head -n 1; }
      ask "any text"
      ask "$own"
      ask "$(printf '%s\n' "$own" | sed 's/^committer .* </committer Somebody </')"
      ask "$(printf '%s\n' "$own" | sed 's/^author .* </author Somebody </')"
      git -c user.name=Somebody commit -q --allow-empty -m other || echo refused`,
      { bottle: { git: { user: IDENTITY, signing: { key: ssh.key }, repos: { "over-file": { url } } } } },
    );
    const { stdout, stderr } = await agents.run("signed");
    expect(stdout, stderr).toBe(
      [
        "cloche: it is not signed: it is neither a commit nor a tag",
        "-----BEGIN SSH SIGNATURE-----",
        "cloche: it is not signed: its committer is not who the bottle says",
        "cloche: it is not signed: its author is not who the bottle says",
        "refused\n",
      ].join("\n"),
    );
    const signers = at.path("signers");
    writeFileSync(signers, `${IDENTITY.email} ${readFileSync(`${ssh.key}.pub`, "utf8")}`);
    hostGit(`${upstreams}/over-file.git`, [
      "-c",
      `gpg.ssh.allowedSignersFile=${signers}`,
      "verify-commit",
      "agent/signed",
    ]);
  });

  it("goes on after its gate was killed, also while it sends, knows what the upstream has, and leaves no mirror", async () => {
    const hold = at.path("hold");
    const hook = `${upstreams}/over-http.git/hooks/pre-receive`;
    writeFileSync(
      hook,
      `#!/bin/sh\ntest ! -e ${hold} || touch ${hold}.seen\nwhile test -e ${hold}; do sleep 0.05; done\n`,
    );
    chmodSync(hook, 0o755);
    agents.agent(
      "killed",
      `git clone -q ${web.url}/over-http.git w && cd w && for i in 1 2 3 4 5 6; do echo $i > n; git add n; git commit -q -m $i; until git push -q origin HEAD:agent/killed 2>/dev/null; do sleep 0.2; done; git fetch -q || true; echo pushed $i; done; git fsck --strict >/dev/null && git rev-parse HEAD`,
      {
        bottle: {
          git: {
            user: IDENTITY,
            repos: { "over-http": { url: `${web.url}/over-http.git`, auth: { token_ref: "GIT_TOKEN" } } },
          },
        },
      },
    );
    const { identity, workspace_id } = await at.sdk.startRun("killed", agents.options({ variables }));
    const following = agents.follow(at.sdk.attachRun(identity));
    for (const round of [1, 3]) {
      await eventually(
        async () => expect((await at.sdk.logsWorkspace(identity)).entries[0]?.stdout).toContain(`pushed ${round}`),
        60,
      );
      // The second time while the upstream has a push of it, and has not yet decided.
      if (round === 3) {
        writeFileSync(hold, "");
        await eventually(() => expect(existsSync(`${hold}.seen`)).toBe(true), 60);
      }
      const running = gateOf(at.home, workspace_id);
      if (!running) throw new Error("no gate runs");
      process.kill(running.gate, "SIGKILL");
      rmSync(hold, { force: true });
    }
    const { stdout, stderr, end } = await following;
    expect(end.exit_code, stderr).toBe(0);
    expect(refsOf(`${upstreams}/over-http.git`)["refs/heads/agent/killed"]).toBe(stdout.trim().split("\n").at(-1));
    const mirrors = () => execFileSync("find", [at.home, "-name", "*.git"], { encoding: "utf8" });
    await eventually(() => expect(mirrors()).toBe(""));
  });
});
