import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { hostGit } from "../../../test/helpers/git-server.ts";
import type { GateRepo } from "../../model/git-order.ts";

/** With a digit: an id without one is not told from other capitals. */
const cloudKey = () =>
  `AKIA7${randomBytes(60)
    .toString("base64")
    .replaceAll(/[^A-Z2-7]/g, "")
    .padEnd(15, "Q")
    .slice(0, 15)}`;
const RULES = {
  branches: ["main", "agent/*"],
  tags: "allow",
  paths: { deny: ["secrets/**"] },
  max_file_mb: 1,
} as const satisfies GateRepo["rules"];
const SECRET = `sec-${randomBytes(20).toString("hex")}`;

describe("a push", () => {
  let bed: GitDoorBed;
  let folder: string;

  beforeAll(async () => {
    bed = await GitDoorBed.start({
      guarded: [{ kind: "known_secrets", name: "DEPLOY_TOKEN", value: SECRET }],
      repos: {
        app: {
          rules: RULES,
        },
      },
    });
    folder = await bed.clone();
  });

  afterAll(async () => {
    await bed[Symbol.asyncDispose]();
  });

  /** Refused by these steps; nothing of it is upstream or in the mirror. */
  const expectRefused = async (steps: readonly string[], ref = "HEAD:agent/x", ...more: string[]) => {
    const before = bed.refs();
    const { code, out } = await bed.git(folder, "push", ...more, "origin", ref);
    expect(out, out).toContain("cloche: this push was refused; nothing of it has left the sandbox");
    expect(code).not.toBe(0);
    for (const step of steps) expect(out).toMatch(new RegExp(`^remote:   ${step} `, "m"));
    expect(bed.refs()).toEqual(before);
    const tip = await bed.must(folder, "rev-parse", "HEAD");
    for (const path of [bed.bare("app"), bed.mirror("app")])
      expect(() => hostGit(path, ["cat-file", "-e", tip])).toThrow();
    return out;
  };
  const start = async () => await bed.must(folder, "checkout", "-q", "-B", "work", "origin/main");

  describe("with a secret is refused, and the value is not repeated (G-89)", () => {
    const cases: Record<string, (key: string) => Promise<RegExp>> = {
      "in the tip": async (key) => {
        const id = await bed.commit(folder, { "config.txt": `one\naws_access_key_id=${key}\n` });
        return new RegExp(`aws-.* in config\\.txt:2, commit ${id.slice(0, 12)}; fingerprint [0-9a-f]{32}`);
      },
      "in an older commit": async (key) => {
        const id = await bed.commit(folder, { "config.txt": `aws_access_key_id=${key}\n` });
        await bed.commit(folder, { "config.txt": "nothing\n" });
        return new RegExp(`config\\.txt:1, commit ${id.slice(0, 12)}`);
      },
      "in a file that is gone again": async (key) => {
        await bed.commit(folder, { "gone.txt": `aws_access_key_id=${key}\n` });
        await bed.must(folder, "rm", "-q", "gone.txt");
        await bed.must(folder, "commit", "-q", "-m", "without it");
        return /gone\.txt:1/;
      },
      "in a message": async (key) => {
        const id = await bed.commit(folder, { f: "f\n" }, `uses ${key} for now`);
        return new RegExp(`the text of commit ${id.slice(0, 12)}, line 1`);
      },
      "in a message behind a NUL": async (key) => {
        await bed.commit(folder, { f: "g\n" });
        const head = await bed.must(folder, "cat-file", "commit", "HEAD");
        writeFileSync(join(folder, ".git", "raw"), `${head.split("\n\n")[0] ?? ""}\n\nfine\0${key}\n`);
        const id = await bed.must(folder, "hash-object", "-t", "commit", "-w", "--literally", ".git/raw");
        await bed.must(folder, "reset", "-q", "--soft", id);
        return /unpack .*nul|the text of commit/i;
      },
      "in the name of a file": async (key) => {
        await bed.commit(folder, { [`docs/${key}.txt`]: "x\n" });
        return /in the name of docs\/REDACTED\*+\.txt/;
      },
      "in a binary file": async (key) => {
        await bed.commit(folder, {
          "image.bin": Buffer.concat([randomBytes(5000), Buffer.from(`\0${key}\0`), randomBytes(5000)]),
        });
        return /image\.bin/;
      },
      "in base64 in a link": async () => {
        const packed = Buffer.from(`x=${SECRET}`).toString("base64");
        await bed.commit(folder, { "README.md": `See [this](https://example.com/?q=${packed}).\n` });
        return /known-secret DEPLOY_TOKEN .* in README\.md:1/;
      },
      "with a comment that is to silence it": async (key) => {
        await bed.commit(folder, { "config.txt": `aws_access_key_id=${key} # gitleaks:allow\n` });
        return /config\.txt:1/;
      },
      "in two commits, each with a half": async () => {
        await bed.commit(folder, { "a.txt": `${SECRET.slice(0, 22)}\n` });
        await bed.commit(folder, { "a.txt": `${SECRET.slice(22)}\n` });
        return /known-secret DEPLOY_TOKEN/;
      },
      "in what a merge brings": async (key) => {
        await bed.commit(folder, { "one.txt": "1\n" });
        await bed.must(folder, "checkout", "-q", "-b", "side", "origin/main");
        await bed.commit(folder, { "two.txt": "2\n" });
        await bed.must(folder, "merge", "-q", "--no-commit", "work");
        const id = await bed.commit(folder, { "evil.txt": `aws_access_key_id=${key}\n` });
        await bed.must(folder, "branch", "-q", "-D", "work");
        return new RegExp(`evil\\.txt:1, commit ${id.slice(0, 12)}`);
      },
    };
    for (const [name, make] of Object.entries(cases))
      it(name, async () => {
        await start();
        const key = cloudKey();
        const pattern = await make(key);
        const out = await expectRefused([]);
        expect(out).toMatch(pattern);
        expect(out).not.toContain(key);
        expect(out).not.toContain(SECRET.slice(4, 24));
        await bed.must(folder, "checkout", "-q", "--detach", "origin/main");
        await bed.git(folder, "branch", "-q", "-D", "side");
      });

    it("in the name of a branch, and in a tag", async () => {
      await start();
      await bed.commit(folder, { f: "h\n" });
      const key = cloudKey();
      expect(await expectRefused(["secrets"], `HEAD:agent/${key}`)).not.toContain(`cloche: ${key}`);
      await bed.must(folder, "tag", "-a", "-f", "v1", "-m", `made with ${key}`);
      expect(await expectRefused(["secrets"], "v1")).toMatch(/the text of tag/);
    });
  });

  it("that the rules refuse is told with all that is wrong at once", async () => {
    await start();
    await bed.commit(folder, {
      "secrets/plan.txt": `aws_access_key_id=${cloudKey()}\n`,
      "big.bin": randomBytes(2 * 1024 * 1024),
    });
    const out = await expectRefused(["refs", "paths", "secrets"], "HEAD:release");
    expect(out).toContain("the branch release is denied: allowed are main, agent/*");
    expect(out).toMatch(/secrets\/plan\.txt in commit [0-9a-f]{12}: the path is denied by secrets\/\*\*/);
    expect(out).toMatch(/big\.bin in commit [0-9a-f]{12}: the file has 2\.0 MiB, and at most 1 are allowed/);
    expect(bed.events.at(-1)).toMatchObject({
      kind: "push.rejected",
      repo: "app",
      reason: "refused: refs, paths, secrets",
    });
  });

  it("G-171 names a file in quotation marks where its name could pass for the sentence about it", async () => {
    await start();
    const name = "secrets/a in commit 5d2c1f0a9b3e: the path is denied by docs";
    await bed.commit(folder, { [name]: "x\n" });
    expect(await expectRefused(["paths"])).toContain(`paths    "${name}" in commit `);
  });

  it("by somebody else than the bottle says is refused", async () => {
    await start();
    await bed.must(folder, "commit", "-q", "--allow-empty", "-m", "not me", "--author", "Somebody <some@example.com>");
    expect(await expectRefused(["author"])).toContain("is not Review Agent <agent@example.com>");
  });

  it("that overwrites or deletes is refused", async () => {
    await start();
    await bed.commit(folder, { one: "1\n" });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/kept");
    await start();
    await bed.commit(folder, { one: "2\n" });
    expect(await expectRefused(["refs"], "HEAD:agent/kept", "--force")).toContain(
      "agent/kept is no fast-forward, and force is denied",
    );
    const { code, out } = await bed.git(folder, "push", "origin", "--delete", "agent/kept");
    expect([code, out]).toEqual([1, expect.stringContaining("deleting agent/kept is denied")]);
  });

  it("of a merge with what the upstream has is not judged by what others did there", async () => {
    const path = bed.bare("app");
    const blob = hostGit(path, ["hash-object", "-w", "--stdin"], "theirs\n");
    const below = hostGit(path, ["mktree"], `100644 blob ${blob}\tplan.txt\n`);
    const tree = hostGit(path, ["mktree"], `040000 tree ${below}\tsecrets\n`);
    hostGit(path, [
      "update-ref",
      "refs/heads/theirs",
      hostGit(path, ["commit-tree", "-p", "main", "-m", "theirs", tree]),
    ]);
    await start();
    await bed.commit(folder, { mine: "1\n" });
    await bed.must(folder, "fetch", "-q", "origin");
    await bed.must(folder, "merge", "-q", "-m", "both", "origin/theirs");
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/merged");
  });

  it("G-169 that puts another commit under the name of a tag overwrites it, also one that comes after it", async () => {
    await start();
    await bed.commit(folder, { released: "1\n" });
    await bed.must(folder, "tag", "first-release");
    await bed.must(folder, "push", "origin", "first-release", "HEAD:main");
    await bed.commit(folder, { released: "2\n" });
    await bed.must(folder, "tag", "-f", "first-release");
    const out = await expectRefused(["refs"], "+first-release:first-release");
    expect(out).toContain("first-release is there already, and force is denied");
  });

  describe("G-170 that takes a denied path back in a merge is refused as any other change of it is", () => {
    /** The path on `main` has a second version; the first is what `old` has. */
    beforeAll(() => {
      const path = bed.bare("app");
      const withPlan = (text: string, ...parents: string[]) => {
        const blob = hostGit(path, ["hash-object", "-w", "--stdin"], text);
        const below = hostGit(path, ["mktree"], `100644 blob ${blob}\tplan.txt\n`);
        const tree = hostGit(path, ["mktree"], `040000 tree ${below}\tsecrets\n`);
        return hostGit(path, ["commit-tree", ...parents.flatMap((one) => ["-p", one]), "-m", "plan", tree]);
      };
      const old = withPlan("old\n", "main");
      hostGit(path, ["update-ref", "refs/heads/old", old]);
      hostGit(path, ["update-ref", "refs/heads/agent/target", withPlan("new\n", old)]);
    });

    for (const [first, second] of [
      ["agent/target", "old-work"],
      ["old-work", "agent/target"],
    ] as const)
      it(`${first} first`, async () => {
        await bed.must(folder, "fetch", "-q", "origin");
        await bed.must(folder, "branch", "-q", "-f", "--no-track", "agent/target", "origin/agent/target");
        await bed.must(folder, "checkout", "-q", "-B", "old-work", "origin/old");
        await bed.commit(folder, { mine: `${first}\n` });
        const tree = await bed.must(folder, "rev-parse", "old-work^{tree}");
        const merge = await bed.must(folder, "commit-tree", "-p", first, "-p", second, "-m", "merge", tree);
        await bed.must(folder, "checkout", "-q", "--detach", merge);
        const out = await expectRefused(["paths"], "HEAD:agent/target");
        expect(out).toMatch(new RegExp(`secrets/plan.txt in commit ${merge.slice(0, 12)}: the path is denied`));
      });
  });

  it("with a name or an option that the operator allows by its fingerprint passes, and with another does not", async () => {
    await start();
    const [path, branch, other] = [cloudKey(), cloudKey(), cloudKey()];
    await bed.commit(folder, { [`docs/${path}.txt`]: "x\n" });
    const told = await expectRefused(["secrets"], `HEAD:agent/${branch}`);
    const fingerprints = [...told.matchAll(/in the name .*; fingerprint ([0-9a-f]{32})/g)].map(([, one = ""]) => one);
    expect(fingerprints.length).toBe(2);
    bed.obey({ repos: { app: { rules: RULES, allowed_findings: fingerprints } } });
    await expectRefused(["secrets"], `HEAD:agent/${other}`);
    await expectRefused(["secrets"], "HEAD:agent/x", "-o", `note=${other}`);
    await bed.must(folder, "push", "-q", "-o", `note=${branch}`, "origin", `HEAD:agent/${branch}`);
    bed.obey({ repos: { app: { rules: RULES } } });
  });

  it("G-126 with a thousand copies of what is allowed is still refused for what is not", async () => {
    await start();
    const [allowed, other] = [cloudKey(), cloudKey()];
    await bed.commit(folder, { "a-sample.txt": `aws_access_key_id=${allowed}\n` });
    const fingerprint = /fingerprint ([0-9a-f]{32})/.exec(await expectRefused(["secrets"]))?.[1] ?? "";
    bed.obey({ repos: { app: { rules: RULES, allowed_findings: [fingerprint] } } });
    await bed.commit(folder, {
      "a-sample.txt": `aws_access_key_id=${allowed}\n`.repeat(1000),
      "z-real.txt": `aws_access_key_id=${other}\n`,
    });
    expect(await expectRefused(["secrets"])).toMatch(/in z-real\.txt:1/);
    const many = await (async () => {
      await bed.commit(folder, { "many.txt": `aws_access_key_id=${other}\n`.repeat(700) });
      return await expectRefused(["secrets"]);
    })();
    expect(many).toMatch(/secrets +and \d+ more/);
    bed.obey({ repos: { app: { rules: RULES } } });
  });

  it("with a finding that the operator allows by its fingerprint passes", async () => {
    await start();
    await bed.commit(folder, { "sample.txt": `aws_access_key_id=${cloudKey()}\n` });
    const fingerprint = /fingerprint ([0-9a-f]{32})/.exec(await expectRefused(["secrets"]))?.[1] ?? "";
    bed.obey({ repos: { app: { allowed_findings: [fingerprint] } } });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/allowed");
  });
});
