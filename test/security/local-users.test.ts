import {
  existsSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identifyFolder } from "../../src/base/folder-identity.ts";
import { currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import { removeTree, TreeIsForeign } from "../../src/base/remove-tree.ts";
import { createEnvironments } from "../../src/environments/environments.ts";
import { unpackRootfs } from "../../src/environments/rootfs-tar.ts";
import { RepositoryClone } from "../../src/mcp/project/repository-clone.ts";
import { toBytePath } from "../../src/seeds/byte-path.ts";
import { copyScan } from "../../src/seeds/copy-scan.ts";
import { scanSource } from "../../src/seeds/scan-source.ts";
import { SeedCache } from "../../src/seeds/seed-cache.ts";
import { SourceChanged } from "../../src/seeds/seed-errors.ts";
import { guestProgram } from "../../src/walls/guest-program.ts";
import { type ExportItem, writeExport } from "../../src/workspaces/export-writer.ts";
import { Scratch } from "../../src/workspaces/scratch.ts";
import { Installation, PROJECT, runProcess, withInstallation } from "../helpers/installation.ts";
import { asLocalUser, LOCAL_USER, LocalAttack, SharedPlace } from "../helpers/local-user.ts";

let place: SharedPlace;
beforeEach(() => (place = new SharedPlace()));
afterEach(() => place[Symbol.asyncDispose]());

const precious = (name: string, count = 1): string => {
  const folder = place.make(name);
  for (let at = 0; at < count; at++) writeFileSync(join(folder, `f${at}`), "precious");
  return folder;
};

describe("G-24 removal beside another user", () => {
  it("G-16 G-24 who swaps folders for links in the tree has nothing else removed", async () => {
    const victim = precious("victim", 40);
    const swap = `my ($open) = @ARGV; chdir $open or die $!; my ($d, $l) = ("d", "l"); print "there\\n";
      while (1) { print "swapped\\n" if syscall(316, -100, $d, -100, $l, 2) == 0 && !$swapped++ }`; // RENAME_EXCHANGE
    for (let round = 0; round < 25; round++) {
      const open = place.make("tree/open", 0o777);
      mkdirSync(join(open, "d/e"), { recursive: true });
      for (let at = 0; at < 40; at++) writeFileSync(join(open, "d", `f${at}`), "");
      symlinkSync(victim, join(open, "l"));
      for (const name of ["d", "l"]) await asLocalUserOwns(join(open, name));
      await using attack = await LocalAttack.start(swap, [open]);
      await attack.says(/swapped/);
      await removeTree(place.path("tree")).catch(() => undefined); // a removal that is held up is told, and tried again
      await removeTree(place.path("tree")).catch(() => undefined);
    }
    expect(readdirSync(victim)).toHaveLength(40);
    await removeTree(place.path("tree"));
    expect(existsSync(place.path("tree"))).toBe(false);
  });

  it("G-16 G-24 what is another user's is not removed, be it called as if it were ours", async () => {
    const victim = precious("victim");
    const planted = join(place.theirs, "clone-1-1-abcdef");
    const { code } = await asLocalUser(
      "sh",
      "-c",
      `mkdir ${planted}; touch ${planted}/kept; ln -s ${victim} ${planted}/link`,
    );
    expect(code).toBe(0);
    await expect(removeTree(planted)).rejects.toThrow(TreeIsForeign);
    expect([existsSync(join(planted, "kept")), readdirSync(victim)]).toEqual([true, ["f0"]]);
  });

  it("G-24 a folder of our own that another user has put in the place of the one to remove stays", async () => {
    const [ours, other] = ["ours", "other"].map((name) => join(place.theirs, name)) as [string, string];
    for (const folder of [ours, other]) mkdirSync(folder);
    writeFileSync(join(other, "precious"), "");
    const is = identifyFolder(ours);
    const { code } = await asLocalUser("sh", "-c", `cd ${place.theirs} && mv ours away && mv other ours`);
    expect(code).toBe(0);
    await expect(removeTree(ours, { is })).rejects.toThrow(TreeIsForeign);
    expect(existsSync(join(ours, "precious"))).toBe(true);
  });

  it.each(["tree", "tree/inner"])(
    "G-16 G-24 a mount of the very same file system that comes at %s while the removal goes on is not entered",
    async (mounted) => {
      precious("victim");
      place.make("tree/inner");
      // By the program alone: what looks for mounts before has nothing to find yet.
      const script = `cd ${place.root} && mount --bind victim ${mounted} && ${guestProgram()} remove ${place.root} tree; echo $?; ls victim`;
      const { stdout, stderr } = await runProcess("unshare", [
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
      ]);
      expect({ stdout, stderr }).toEqual({ stdout: "3\nf0\n", stderr: "something is mounted there\n" });
    },
  );

  async function asLocalUserOwns(path: string): Promise<void> {
    const { lchownSync } = await import("node:fs");
    lchownSync(path, LOCAL_USER, LOCAL_USER);
  }
});

describe("G-24 an export to a folder of another user", () => {
  /** A file from a sandbox that comes once the other user has done what was asked. */
  async function* fileAfter(wait: () => Promise<void>): AsyncGenerator<ExportItem> {
    await wait();
    const content = (async function* () {
      yield await Promise.resolve(Buffer.from("* * * * * root id\n"));
    })();
    const none = Buffer.alloc(0);
    yield { type: "file", pathBytes: none, mode: 0o644, size: 18, mtimeNs: 0n, linkTargetBytes: none, content };
  }
  const replaceBy = (what: string) => `my ($place, $victim) = @ARGV; chdir $place or die $!; print "there\\n";
    while (1) { for my $name (glob ".out.cloche-*") { next if -l $name; rename($name, "moved") or next; ${what}; print "done\\n"; sleep 60 } }`;

  async function exportDuring(attack: LocalAttack): Promise<void> {
    const output = join(place.theirs, "out");
    const items = fileAfter(() => attack.says(/done/));
    const scratch = new Scratch(place.make("home", 0o700), silentLog);
    await scratch.beside(output, (path) => writeExport(items, output, { scratch: path })).catch(() => undefined);
    await attack.says(/done/); // an export that finds it out sooner has ended by then
  }

  it("G-12 G-24 is written nowhere else when the folder that it is built in is swapped for a link", async () => {
    const victim = place.make("cron.d");
    await using attack = await LocalAttack.start(replaceBy("symlink $victim, $name"), [place.theirs, victim]);
    await exportDuring(attack);
    expect(attack.said).toBe("there\ndone\n");
    expect(readdirSync(victim)).toEqual([]);
  });

  it("G-24 removes nothing of ours that has taken the name of the folder that it is built in", async () => {
    mkdirSync(join(place.theirs, "precious"));
    writeFileSync(join(place.theirs, "precious/file"), "");
    await using attack = await LocalAttack.start(replaceBy('rename "precious", $name'), [place.theirs, ""]);
    await exportDuring(attack);
    expect(attack.said).toBe("there\ndone\n");
    const [name = ""] = readdirSync(place.theirs).filter((one) => one.startsWith(".out.cloche-"));
    expect(readdirSync(join(place.theirs, name))).toEqual(["file"]);
  });
});

describe("G-24 what cloche keeps", () => {
  it("G-24 G-05 an imported project cannot be read by another user, by any path, whatever the mode of the cache was", async () => {
    const cache = place.make("cache");
    const project = place.make("project", 0o700);
    writeFileSync(join(project, "secret.txt"), "canary", { mode: 0o644 });
    await withInstallation(
      async (at) => {
        await at.sdk.createWorkspace({ seed_path: project });
        const trees = readdirSync(join(cache, "seeds")).map((key) => join(cache, "seeds", key, "tree/secret.txt"));
        const [secret = ""] = trees.filter((path) => existsSync(path));
        expect(readFileSync(secret, "utf8")).toBe("canary");
        const { stdout } = await asLocalUser("sh", "-c", `cat ${secret}; ls -R ${cache} ${at.home}; exit 0`);
        expect(stdout).toBe("");
      },
      { CLOCHE_CACHE: cache },
    );
  });

  it("G-14 G-24 a start with the umask 000 opens nothing", async () => {
    const at = new Installation("um", { CLOCHE_CACHE: place.path("cache") });
    try {
      const program = `umask 000; exec ${process.execPath} ${PROJECT}/dist/cli/main.js workspace create --seed-path ${PROJECT}/examples/demo-project --id-only`;
      const { code, stderr } = await runProcess("sh", ["-c", program], { env: at.env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      chmodSync(at.root, 0o755); // so that it is the home itself that is closed
      for (const folder of [at.home, place.path("cache")]) {
        expect(statSync(folder).mode & 0o077, folder).toBe(0);
        for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
        const { stdout } = await asLocalUser(
          "sh",
          "-c",
          `ls ${folder}; cat ${folder}/daemon.log; touch ${folder}/x && echo made`,
        );
        expect(stdout).toBe("");
      }
    } finally {
      await at[Symbol.asyncDispose]();
    }
  });

  it("G-24 a clone is in the home, and nothing of it in the system's /tmp", async () => {
    const upstream = place.make("upstream");
    const git = (...args: string[]) =>
      runProcess("git", ["-C", upstream, "-c", "user.name=x", "-c", "user.email=x@x", ...args]);
    for (const args of [
      ["init", "-q"],
      ["commit", "-q", "--allow-empty", "-m", "x"],
    ])
      expect((await git(...args)).code).toBe(0);
    const home = place.path("home");
    await using clone = new RepositoryClone(`file://${upstream}`, undefined, home);
    const folder = await clone.folder({});
    expect(folder.startsWith(`${home}/tmp/clone-${process.pid}-`)).toBe(true);
    expect((await asLocalUser("ls", folder)).code).not.toBe(0);
  });
});

describe("G-24 an import from a folder that another user can write to", () => {
  // Many files are copied by programs of their own.
  it.each([1, 300])(
    "G-24 brings none of %i that only we can read when a folder becomes a link, at whatever moment",
    async (count) => {
      const [project, secret] = [place.make("project"), precious("project/src", count)];
      const control = { progress: () => undefined, aborted: () => false, signal: new AbortController().signal };
      const owner = { kind: "single", uid: 0, gid: 0 } as const;
      const tree = () => new SeedCache(place.path("cache"), owner).begin().tree;
      const scan = await scanSource(toBytePath(project), { control, hidden: [] });
      await copyScan(scan, tree(), control);
      // As if the link had been there when the folder was looked at, and the folder a moment before.
      renameSync(secret, place.path("private"));
      symlinkSync("../private", secret);
      await expect(copyScan(scan, tree(), control)).rejects.toThrow(SourceChanged);
    },
  );
});

describe("G-24 an image build", () => {
  it("G-24 no other user runs a setuid program of an image while it is built, or later, whatever the mode of the cache was", async () => {
    const cache = place.make("cache");
    const environments = createEnvironments({
      cachePath: cache,
      idMap: currentIdMap(),
      log: silentLog,
      definitions: [setuidDefinition()],
    });
    // Also by names that it was told.
    const run = `my ($cache) = @ARGV; my %seen; print "there\\n";
      while (1) { for my $su (glob "$cache/environments/{.tmp-*,*}/rootfs/su $cache/environments/{.tmp-*,*}/scratch/tree/su") {
        my $who = -x $su && \`$su -u 2>/dev/null\`; print "ran as $who" if $who && !$seen{$who}++ } }`;
    await using attack = await LocalAttack.start(run, [cache]);
    const { root } = await environments.ensure("setuid", {});
    const { stdout } = await asLocalUser("sh", "-c", `${join(root, "su")} -u; ls ${root}; exit 0`);
    expect([attack.said, stdout]).toEqual(["there\n", ""]);
    expect(statSync(join(root, "su")).mode & 0o7000).toBe(0);
  });

  function setuidDefinition() {
    const env = { PATH: process.env["PATH"] };
    return {
      name: "setuid",
      description: "",
      packages: [],
      hostFolders: () => ({ shown: [], covered: [] }),
      digest: () => Promise.resolve("0123456789abcdef"),
      build: async (context: Parameters<typeof unpackRootfs>[1]) => {
        const tar = join(context.scratch, "rootfs.tar");
        // Large behind it, so that there is time to find it.
        const script = `mkdir tree; cp /usr/bin/id tree/su; chmod 6755 tree/su; head -c 200M /dev/zero > tree/z; tar -cf ${tar} -C tree su z; rm -r tree`;
        expect((await runProcess("sh", ["-ec", script], { cwd: context.scratch })).code).toBe(0);
        await unpackRootfs(tar, context, env);
      },
    };
  }
});

describe("G-14 G-24 a home or cache that is not the user's alone", () => {
  const ASKED = ["workspace", "list", "--json"];
  const answer = async (at: Installation, env: NodeJS.ProcessEnv) => {
    const { code, stdout, stderr } = await at.cli(ASKED, { env });
    return { code, said: stdout + stderr };
  };

  it.each([
    ["is another user's", (path: string) => chownSync(path, LOCAL_USER, LOCAL_USER), "it belongs to another user"],
    [
      "others can write to, with something in it",
      (path: string) => {
        writeFileSync(join(path, "planted"), "");
        chmodSync(path, 0o777);
      },
      "other users can write to it",
    ],
    [
      "is in a folder that others can write to",
      (path: string) => chmodSync(join(path, ".."), 0o777),
      "other users can write to",
    ],
    [
      "is in a folder of another user",
      (path: string) => chownSync(join(path, ".."), LOCAL_USER, LOCAL_USER),
      "belongs to another user",
    ],
  ])("G-14 G-24 that %s is refused, and nothing is put there", async (_what, spoil, reason) => {
    await withInstallation(async (at) => {
      for (const variable of ["CLOCHE_HOME", "CLOCHE_CACHE"]) {
        const path = place.make(`${variable}/there`, 0o700);
        spoil(path);
        const before = readdirSync(path);
        // A daemon of its own home, which was not asked yet.
        const env = { CLOCHE_HOME: place.path("own"), [variable]: path };
        const { code, said } = await answer(at, env);
        expect([code, said]).toEqual([1, expect.stringContaining(reason)]);
        expect(readdirSync(path)).toEqual(before);
      }
    });
  });

  it("G-14 a client tells nothing to a daemon that another user has put there", async () => {
    await withInstallation(async (at) => {
      const home = place.make("home", 0o700);
      let connections = 0;
      const server = createServer((socket) => socket.destroy(new Error(String(++connections))));
      await new Promise<void>((done) => server.listen(join(home, "daemon.sock"), done));
      try {
        // As if its owner were ours at the moment of the look: the folder alone tells.
        chmodSync(home, 0o777);
        expect((await answer(at, { CLOCHE_HOME: home })).said).toContain("other users can write to it");
        expect(connections).toBe(0);
      } finally {
        server.close();
      }
    });
  });
});
