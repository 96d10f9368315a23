import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestProxy, routeFor } from "../../../test/helpers/egress-proxy.ts";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { hostGit } from "../../../test/helpers/git-server.ts";
import { pushDigest } from "../../policy/git/push-digest.ts";
import type { HeldPush } from "./held-pushes.ts";

let bed: GitDoorBed;

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

describe("git on the host", () => {
  const before = { ...process.env };

  beforeEach(async () => {
    bed = await GitDoorBed.start();
  });
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  });

  it("G-84 runs nothing that a repository, the user or a variable has set up", async () => {
    const mark = join(bed.folder, "ran");
    const script = join(bed.folder, "hook");
    writeFileSync(script, `#!/bin/sh\ntouch ${mark}\n`);
    chmodSync(script, 0o755);
    writeFileSync(
      join(bed.folder, ".gitconfig"),
      `[core]\n\thooksPath = ${bed.folder}/hooks\n\tsshCommand = ${script}\n\tfsmonitor = ${script}\n[credential]\n\thelper = !${script}\n[uploadpack]\n\tpackObjectsHook = ${script}\n[url "ext::${script} "]\n\tinsteadOf = http:\n`,
    );
    Object.assign(process.env, {
      HOME: bed.folder,
      GIT_CONFIG_GLOBAL: join(bed.folder, ".gitconfig"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "protocol.ext.allow",
      GIT_CONFIG_VALUE_0: "always",
      GIT_TRACE: mark,
      GIT_EXTERNAL_DIFF: script,
    });
    const folder = await bed.clone();
    const hooks = join(bed.mirror("app"), "hooks");
    for (const path of [hooks, join(bed.folder, "hooks")]) {
      mkdirSync(path, { recursive: true });
      for (const name of [
        "reference-transaction",
        "pre-push",
        "post-index-change",
        "pre-auto-gc",
        "update",
        "pre-receive",
      ]) {
        writeFileSync(join(path, name), `#!/bin/sh\ntouch ${mark}\n`);
        chmodSync(join(path, name), 0o755);
      }
    }
    writeFileSync(
      join(bed.mirror("app"), "config"),
      `[core]\n\tbare = true\n\thooksPath = ${hooks}\n[credential]\n\thelper = !${script}\n`,
    );
    await bed.commit(folder, { mine: "1\n" });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/x");
    await bed.must(folder, "fetch", "-q");
    expect(existsSync(mark)).toBe(false);
  });

  it("G-85 serves nothing while the upstream does not answer, unless the bottle allows what is old", async () => {
    const folder = await bed.clone();
    const away = {
      kind: "http",
      url: "http://127.0.0.1:9/app.git",
      authorization: null,
      token_name: null,
      ca: null,
    } as const;
    bed.obey({ repos: { app: { way: away } } });
    const { code, out } = await bed.git(folder, "fetch");
    expect(code).not.toBe(0);
    expect(out).toContain(
      "remote: cloche: the upstream does not answer, and nothing old is served: upstream:80 cannot be reached",
    );
    expect((await bed.git(folder, "push", "origin", "HEAD:agent/x")).code).not.toBe(0);
    bed.obey({ repos: { app: { way: away, allow_stale: true } } });
    await bed.must(folder, "fetch");
  });
});

describe("a push that is held", () => {
  const held: HeldPush[] = [];
  let before: () => void;
  let isApproved: boolean;

  beforeEach(async () => {
    held.length = 0;
    before = () => undefined;
    isApproved = true;
    bed = await GitDoorBed.start({
      repos: { app: { rules: { branches: ["agent/*"] }, on_violation: "supervise" } },
      held: {
        decide(push, say) {
          held.push(push);
          say("cloche: held as proposal 7\n");
          before();
          return Promise.resolve({ isApproved, reason: isApproved ? null : "not on a Friday" });
        },
      },
    });
  });

  it("G-90 goes on when it is approved, as the push that it was and no other", async () => {
    const folder = await bed.clone();
    const id = await bed.commit(folder, { one: "1\n" });
    const out = await bed.must(folder, "push", "origin", "HEAD:release");
    expect(out).toContain("remote: cloche: held as proposal 7");
    expect(bed.refs()["refs/heads/release"]).toBe(id);
    const [push] = held;
    expect(push?.commands).toEqual([{ old: "0".repeat(40), new: id, ref: "refs/heads/release" }]);
    expect(push?.failures.map(({ step }) => step)).toEqual(["refs"]);
    expect(push?.digest).toBe(pushDigest("app", push?.commands ?? []));
    expect(pushDigest("app", [{ old: "0".repeat(40), new: id, ref: "refs/heads/other" }])).not.toBe(push?.digest);
    isApproved = false;
    await bed.commit(folder, { two: "2\n" });
    const second = await bed.git(folder, "push", "origin", "HEAD:release");
    expect([second.code, second.out]).toEqual([1, expect.stringContaining("not on a Friday")]);
    expect(bed.refs()["refs/heads/release"]).toBe(id);
  });

  it("G-90 changes nothing upstream when a ref of it has moved meanwhile, not even its other refs", async () => {
    const folder = await bed.clone();
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/a");
    const path = bed.bare("app");
    const theirs = hostGit(path, ["commit-tree", "-p", "main", "-m", "theirs", "main^{tree}"]);
    before = () => hostGit(path, ["update-ref", "refs/heads/agent/a", theirs]);
    await bed.commit(folder, { one: "1\n" });
    const { code, out } = await bed.git(folder, "push", "origin", "HEAD:agent/a", "HEAD:release");
    expect(code).toBe(1);
    expect(out).toMatch(/HEAD -> agent\/a \(fetch first\)/);
    expect(bed.refs()).toMatchObject({ "refs/heads/agent/a": theirs });
    expect(bed.refs()["refs/heads/release"]).toBeUndefined();
  });
});

describe("a push through the egress door", () => {
  it("G-92 to an upstream of the bottle is refused, and is told where the gate is", async () => {
    bed = await GitDoorBed.start();
    const away = { connect: "127.0.0.1:9" };
    await using proxy = new TestProxy({ routes: [routeFor("upstream.test", away), routeFor("other.test", away)] });
    proxy.gate.gitDoor = (host) => bed.gate.doorFor(host);
    await proxy.listen();
    const ask = async (url: string) => (await proxy.plain(url)).text;
    const refused = "go through the git gate, at http://127.0.0.1:9418/app";
    expect(await ask("http://upstream.test/app.git/info/refs?service=git-receive-pack")).toContain(refused);
    expect(await ask("http://upstream.test/app.git/git-receive-pack")).toContain(refused);
    expect(await ask("http://upstream.test/app.git/info/refs?service=git-upload-pack")).not.toContain("git gate");
    expect(await ask("http://other.test/app.git/git-receive-pack")).not.toContain("git gate");
  });
});
