import { type GitObject, blobOf, commitOf, deltaBomb, idOf, packOf, tagOf, treeOf } from "./git-objects.ts";

/** One push as a sandbox sends it, and what it is told. */
export interface HostilePush {
  readonly name: string;
  readonly body: Buffer;
  /** In the answer. */
  readonly told: RegExp;
}

const NOBODY = "0".repeat(40);

/** The body of one push: a new ref, and a pack. */
export function pushBody(ref: string, id: string, pack: Buffer): Buffer {
  const line = `${NOBODY} ${id} ${ref}\0report-status side-band-64k object-format=sha1`;
  const size = (Buffer.byteLength(line) + 4).toString(16).padStart(4, "0");
  return Buffer.concat([Buffer.from(`${size}${line}0000`), pack]);
}

const file = (name: string, blob: GitObject) => ["100644", name, idOf(blob)] as const;

/** A push of commits with one file each, one over the other. */
export function pushOf(
  files: readonly { name: string; text: string | Buffer; message?: string }[],
  ref: string,
): Buffer {
  const objects: GitObject[] = [];
  let tip: GitObject | undefined;
  for (const { name, text, message } of files) {
    const blob = blobOf(text);
    const tree = treeOf(file(name, blob));
    tip = commitOf(tree, tip ? [idOf(tip)] : [], message);
    objects.push(blob, tree, tip);
  }
  return pushBody(ref, tip ? idOf(tip) : NOBODY, packOf(objects));
}

/** Ways to get a secret, or something that hurts, past a git gate. */
export function hostilePushes(secret: string): HostilePush[] {
  const ref = "refs/heads/agent/x";
  const told = /secrets +known-secret/;
  const leak = (name: string, ...files: Parameters<typeof pushOf>[0]): HostilePush => ({
    name,
    body: pushOf(files, ref),
    told,
  });
  const innocent = blobOf("x\n");
  const tree = treeOf(file("f", innocent));
  const commit = commitOf(tree);
  const tag = tagOf(commit, "v1", `made with ${secret}\n`);
  const hidden = blobOf(`${secret}\n`);
  const base64 = Buffer.from(`x=${secret}`).toString("base64");
  const half = Math.floor(secret.length / 2);
  return [
    leak("in the tip", { name: "f", text: `key=${secret}\n` }),
    leak("in an older commit", { name: "f", text: `key=${secret}\n` }, { name: "f", text: "nothing\n" }),
    leak("in a file that is gone again", { name: "gone", text: `key=${secret}\n` }, { name: "f", text: "nothing\n" }),
    leak("in a message", { name: "f", text: "x\n", message: `uses ${secret}\n` }),
    leak("in a binary file", {
      name: "f",
      text: Buffer.concat([Buffer.alloc(999), Buffer.from(secret), Buffer.alloc(9)]),
    }),
    leak("in base64 in a link", { name: "README.md", text: `[this](https://example.com/?q=${base64})\n` }),
    leak(
      "in two commits",
      { name: "a", text: `${secret.slice(0, half)}\n` },
      { name: "b", text: `${secret.slice(half)}\n` },
    ),
    leak("in the name of a file", { name: `${secret}.txt`, text: "x\n" }),
    { name: "in the name of a branch", body: pushOf([{ name: "f", text: "x\n" }], `refs/heads/agent/${secret}`), told },
    { name: "in a tag", body: pushBody("refs/tags/v1", idOf(tag), packOf([innocent, tree, commit, tag])), told },
    {
      name: "in an object that nothing leads to",
      body: pushBody(ref, idOf(commit), packOf([innocent, tree, commit, hidden])),
      told: /hidden +the pack has 1 objects/,
    },
    ...badTrees(ref),
    ...badRefs(commit, packOf([innocent, tree, commit])),
    ...bombs(ref),
  ];
}

/** What git's own checks find: names that some system takes for another, links in the place of git's files, URLs that are options. */
function badTrees(ref: string): HostilePush[] {
  const blob = blobOf("x\n");
  const below = treeOf(file("f", blob));
  const modules = blobOf('[submodule "a"]\n\tpath = a\n\turl = -u./payload\n');
  const cases: Readonly<Record<string, readonly GitObject[]>> = {
    "a path with ..": [treeOf(["40000", "..", idOf(below)]), below],
    "a file named .git": [treeOf(file(".git", blob))],
    "git~1, as NTFS has it": [treeOf(file("git~1", blob))],
    "\u200c in .git, as HFS has it": [treeOf(file(".g\u200cit", blob))],
    "a submodule whose URL is an option": [treeOf(file(".gitmodules", modules)), modules],
    ...Object.fromEntries(
      [".gitmodules", ".gitattributes", ".gitignore", ".mailmap"].map((name) => [
        `a link in the place of ${name}`,
        [treeOf(["120000", name, idOf(blob)])],
      ]),
    ),
  };
  return Object.entries(cases).map(([name, objects]) => {
    const commit = commitOf(objects[0] ?? below);
    return { name, body: pushBody(ref, idOf(commit), packOf([commit, ...objects, blob])), told: /unpack {3}/ };
  });
}

const badRefs = (commit: GitObject, pack: Buffer): HostilePush[] =>
  ["refs/heads/--upload-pack=touch", "refs/heads/a..b", "refs/notes/a"].map((ref) => ({
    name: `the ref ${ref}`,
    body: pushBody(ref, idOf(commit), pack),
    told: /refs {5}/,
  }));

/** Small packs that claim to be large, or are when somebody lists what is in them. */
function bombs(ref: string): HostilePush[] {
  const blob = blobOf("x\n");
  const objects = [blob];
  let tree = treeOf(...["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => file(name, blob)));
  for (let depth = 0; depth < 8; depth++) {
    objects.push(tree);
    const id = idOf(tree);
    tree = treeOf(...["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => ["40000", name, id] as const));
  }
  const commit = commitOf(tree);
  return [
    {
      name: "more objects than are taken",
      body: pushBody(ref, idOf(commit), packOf([blob], 4_000_000)),
      told: /at most 250000/,
    },
    {
      name: "an object that claims 8 TiB",
      body: pushBody(ref, idOf(blob), packOf([{ ...blob, claimed: 2 ** 43 }])),
      told: /unpack {3}/,
    },
    {
      name: "a delta that claims 64 GiB",
      body: pushBody(ref, idOf(blobOf("base")), deltaBomb(blobOf("base"))),
      told: /unpack {3}/,
    },
    {
      name: "trees that hold each other",
      body: pushBody(ref, idOf(commit), packOf([commit, tree, ...objects])),
      told: /more than 2000000 paths/,
    },
  ];
}
