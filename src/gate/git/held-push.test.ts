import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { hostGit } from "../../../test/helpers/git-server.ts";
import { blobOf, commitOf, idOf, packOf, treeOf } from "../../parity/git-objects.ts";
import { FLUSH, pktLine } from "../../policy/git/pkt-line.ts";
import { NO_OBJECT } from "../../policy/git/push-commands.ts";
import { pushDigest } from "../../policy/git/push-digest.ts";
import type { HeldPush } from "./held-pushes.ts";
import { HELD_AT_ONCE, PUSHES_AT_ONCE } from "./limits.ts";

let bed: GitDoorBed;

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

describe("a push that is held", () => {
  const held: HeldPush[] = [];
  let before: () => void;
  let isApproved: boolean;
  /** When the operator answers. */
  let answered: Promise<unknown>;

  beforeEach(async () => {
    held.length = 0;
    before = () => undefined;
    isApproved = true;
    answered = Promise.resolve();
    bed = await GitDoorBed.start({
      repos: { app: { rules: { branches: ["agent/*"] }, on_violation: "supervise" } },
      held: {
        decide(push, say) {
          held.push(push);
          say("cloche: held as proposal 7\n");
          before();
          return answered.then(() => ({ isApproved, reason: isApproved ? null : "not on a Friday" }));
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
    if (!push) throw new Error("nothing was held");
    expect(push.digest).toBe(pushDigest(push));
    const commands = [{ old: "0".repeat(40), new: id, ref: "refs/heads/other" }];
    expect(pushDigest({ ...push, commands })).not.toBe(push.digest);
    isApproved = false;
    await bed.commit(folder, { two: "2\n" });
    const second = await bed.git(folder, "push", "origin", "HEAD:release");
    expect([second.code, second.out]).toEqual([1, expect.stringContaining("not on a Friday")]);
    expect(bed.refs()["refs/heads/release"]).toBe(id);
  });

  it("goes on though the gate was given another order meanwhile, as for a route that was approved", async () => {
    const folder = await bed.clone();
    const id = await bed.commit(folder, { one: "1\n" });
    before = () => bed.obey({ repos: { app: { rules: { branches: ["agent/*"] }, on_violation: "supervise" } } });
    answered = new Promise((done) => setTimeout(done, 300)); // time for the new order to do harm
    await bed.must(folder, "push", "origin", "HEAD:release");
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

  it("G-127 is another push with another option, or when something else is wrong with it", async () => {
    const folder = await bed.clone();
    await bed.commit(folder, { one: "1\n" });
    isApproved = false;
    const push = async (...options: string[]) => {
      await bed.git(folder, "push", ...options, "origin", "HEAD:release");
      return held.at(-1)?.digest;
    };
    const first = await push();
    expect(await push()).toBe(first);
    const withOption = await push("-o", "ci.skip");
    expect(held.at(-1)?.options).toEqual(["ci.skip"]);
    const key = `AKIA7${"QRSTUVWXYZ23456".slice(0, 15)}`;
    const withSecret = await push("-o", `note=${key}`);
    expect(held.at(-1)?.failures.map(({ step }) => step)).toEqual(["refs", "secrets"]);
    bed.obey({
      repos: { app: { rules: { branches: ["agent/*"], paths: { deny: ["one"] } }, on_violation: "supervise" } },
    });
    const withPath = await push();
    expect(new Set([first, withOption, withSecret, withPath]).size).toBe(4);
  });

  it("G-125 is not put to anybody when it has objects that no ref leads to", async () => {
    await bed.clone();
    const file = blobOf("x\n");
    const tree = treeOf(["100644", "f", idOf(file)]);
    const commit = commitOf(tree);
    const command = pktLine(`${NO_OBJECT} ${idOf(commit)} refs/heads/release\0report-status side-band-64k`);
    const answer = await fetch(`${bed.url()}/git-receive-pack`, {
      method: "POST",
      body: Buffer.concat([command, FLUSH, packOf([commit, tree, file, blobOf("unseen\n")])]),
    });
    expect(await answer.text()).toContain("the pack has 1 objects that no pushed ref leads to");
    expect(held).toEqual([]);
    expect(bed.refs()["refs/heads/release"]).toBeUndefined();
    expect(() => hostGit(bed.mirror("app"), ["cat-file", "-e", idOf(blobOf("unseen\n"))])).toThrow();
  });

  it("G-128 takes no place of others while it waits, and no more than some wait", async () => {
    let answer: () => void = () => undefined;
    answered = new Promise<void>((done) => (answer = done));
    const folder = await bed.clone();
    await bed.commit(folder, { one: "1\n" });
    const waiting = Array.from({ length: HELD_AT_ONCE }, (_, at) =>
      bed.git(folder, "push", "origin", `HEAD:release-${at}`),
    );
    await expect.poll(() => held.length, { timeout: 60_000 }).toBe(HELD_AT_ONCE);
    expect(HELD_AT_ONCE).toBeGreaterThan(PUSHES_AT_ONCE);
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/other");
    const { code, out } = await bed.git(folder, "push", "origin", "HEAD:release-more");
    expect([code, out]).toEqual([1, expect.stringContaining("too many pushes wait for the operator already")]);
    answer();
    expect((await Promise.all(waiting)).map((one) => one.code)).toEqual(waiting.map(() => 0));
    await bed.must(folder, "push", "-q", "origin", "HEAD:release-more");
  }, 120_000);
});
