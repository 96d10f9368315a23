import { describe, expect, it } from "vitest";
import { PROJECT, runProcess } from "../helpers/installation.ts";

/** Runs a script whose `$CLOCHE_HOME` is on a disk of 24 MiB, mounted where nobody else sees it; `json` prints a document in one line. */
async function onSmallDisk(script: string): Promise<string[]> {
  const prelude = `mount -t tmpfs -o size=24m,mode=755 tmpfs /mnt || exit 99
    export CLOCHE_HOME=/mnt/h
    cloche() { "$NODE" "$PROJECT/dist/cli/main.js" "$@"; }
    json() { cloche "$@" --json > /tmp/answer.$$; code=$?; tr -d '\\n' < /tmp/answer.$$; rm /tmp/answer.$$; echo " exit $code"; }
    pid() { cloche daemon status --json | grep '"pid"' | tr -dc 0-9; }
    trap 'cloche daemon stop > /dev/null 2>&1' EXIT
    `;
  const { stdout, stderr, code } = await runProcess(
    "unshare",
    ["--mount", "--propagation", "private", "sh", "-c", prelude + script],
    {
      env: { ...process.env, PROJECT, NODE: process.execPath },
    },
  );
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout.trimEnd().split("\n");
}

function expectDiskFull(line: string | undefined, names: string): void {
  const [, document = "", exit] = /^(.*) exit (\d+)$/.exec(line ?? "") ?? [];
  const { error } = JSON.parse(document) as { error: { code: string; message: string; hint: string } };
  expect(error.code).toBe("DISK_FULL");
  expect(error.message).toContain(names);
  expect(error.hint).toContain("Free some space");
  expect(exit).toBe("1");
}

describe("a full disk", () => {
  it("filled by a command: the command hears ENOSPC and has its result, the rest is DISK_FULL, and deleting it frees the disk", async () => {
    const lines = await onSmallDisk(`
      ID=$(cloche workspace create --id-only); BEFORE=$(pid)
      cloche workspace exec $ID -- sh -c 'head -c 64M /dev/zero 2>&1 > big | grep -c "No space left"; exit 7'; echo "exit $?"
      json workspace file write $ID notes.txt --text "$(head -c 20000 /dev/zero | tr '\\0' x)"
      json workspace create
      json workspace update $ID --name full
      cloche workspace list | grep -c "$ID.*started"
      cloche workspace file list $ID | grep -c big
      ls /mnt/h/workspaces | wc -l
      [ "$BEFORE" = "$(pid)" ] && echo "same daemon"
      cloche workspace delete $ID | grep -c Deleted
      ls /mnt/h/workspaces | wc -l
      cloche run -- echo works again`);
    expect(lines.slice(0, 2)).toEqual(["1", "exit 7"]);
    expectDiskFull(lines[2], '"notes.txt"');
    expectDiskFull(lines[3], "full");
    expectDiskFull(lines[4], "full");
    expect(lines.slice(5)).toEqual(["1", "1", "1", "same daemon", "1", "0", "works again"]);
  });

  it("has a push refused before anything of it is written: the upstream and the agent are as they were", async () => {
    const lines = await onSmallDisk(`
      export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x
      git init -q --bare -b main /mnt/up.git && cd /mnt/up.git
      git update-ref refs/heads/main $(git commit-tree -m first $(git hash-object -t tree -w /dev/null)); cd /
      mkdir -p /mnt/h/bottles /mnt/h/agents; chmod 700 /mnt/h
      WORK='git clone -q file:///mnt/up.git w && cd w && echo 1 > f && git add f && git commit -q -m one && git push origin HEAD:agent/x 2>&1 | grep -o "the disk of the host is nearly full"; git status -sb | head -1'
      printf -- '---\\nenvironment: host\\nsupervise: false\\ngit: {user: {name: x, email: x@x}, repos: {up: {url: "file:///mnt/up.git"}}}\\nagent_provider: {template: command, settings: {argv: [/bin/sh, -c, %s]}}\\n---\\n' "'$WORK'" > /mnt/h/bottles/full.md
      printf -- '---\\nbottle: full\\n---\\nGo.\\n' > /mnt/h/agents/full.md
      cloche start full --headless --prompt go --yes 2>/mnt/said || cat /mnt/said
      git -C /mnt/up.git for-each-ref --format='%(refname)'`);
    expect(lines).toEqual([
      "the disk of the host is nearly full",
      expect.stringContaining("## main"),
      "refs/heads/main",
    ]);
  });

  it("G-111 while policies are changed: each change that was made is in the audit once, and the audit is whole", async () => {
    const lines = await onSmallDisk(`
      set_policy() { printf '{"routes":[{"host":"h%s.example.test"}]}' $1 > /tmp/policy.$$.json; cloche egress set $ID /tmp/policy.$$.json > /dev/null 2>&1; }
      ID=$(cloche workspace create --network-policy egress --allow-host a.example.test --id-only)
      MADE=0; set_policy 0 && MADE=1
      head -c 64M /dev/zero > /mnt/fill 2> /dev/null; truncate -s -8192 /mnt/fill
      for n in 1 2 3 4 5 6; do set_policy $n && MADE=$((MADE + 1)); done
      rm /mnt/fill /tmp/policy.$$.json
      cloche audit verify > /dev/null; echo "verify $?"
      echo "made $MADE"
      echo "told $(grep -c '"kind":"policy.changed"' /mnt/h/audit.jsonl)"
      cloche workspace delete $ID > /dev/null`);
    const [verified, made = "", told = ""] = lines;
    expect(verified).toBe("verify 0");
    expect(told.replace("told", "made")).toBe(made);
  });

  it("filled by a skill that a run gets: DISK_FULL or the guest's own words, and nothing of the launch is left", async () => {
    const lines = await onSmallDisk(`
      cloche init --provider command > /dev/null
      mkdir -p /mnt/skills/large; head -c 16M /dev/urandom > /mnt/skills/large/data
      sed -i 's/^skills:.*/skills: [large]/' /mnt/h/agents/assistant.md
      export CLOCHE_SKILLS_DIR=/mnt/skills
      json start --headless --prompt go 2>/dev/null | grep -o '"code": *"[A-Z_]*"\\|exit [0-9]*'
      ls /mnt/h/workspaces /mnt/h/state | grep -c -- -
      sed -i 's/^skills:.*/skills: []/' /mnt/h/agents/assistant.md
      cloche start --headless --prompt go 2>/dev/null | tail -n 1`);
    expect(lines).toEqual(['"code": "DISK_FULL"', "exit 1", "0", "Your task: go"]);
  });

  it("what ended while the journal could not be written is in it later", async () => {
    const lines = await onSmallDisk(`
      ID=$(cloche workspace create --id-only)
      cloche workspace exec $ID -- sh -c 'head -c 64M /dev/zero > /workspace/big 2>/dev/null; echo said; exit 7'; echo "exit $?"
      OTHER=$(cloche workspace create --id-only 2>/dev/null); echo "other: $OTHER"
      cloche daemon stop > /dev/null
      mount -o remount,size=48m /mnt
      for i in $(seq 50); do cloche workspace logs $ID | grep -q ', running for' || break; sleep 0.1; done
      cloche workspace logs $ID | tail -n 2 | cut -d, -f1
      cloche workspace delete $ID > /dev/null`);
    expect(lines).toEqual(["said", "exit 7", "other: ", "said", "[exit 7"]);
  });

  it("that is full before anything is made is DISK_FULL, names what cannot be written and leaves nothing", async () => {
    const lines = await onSmallDisk(`
      mkdir -m 700 /mnt/h; cloche workspace list 2>/dev/null; cloche daemon stop > /dev/null
      head -c 64M /dev/zero > /mnt/ballast 2>/dev/null
      json workspace create
      json workspace create --seed-path "$PROJECT/src"
      json workspace list
      ls /mnt/h/workspaces 2>/dev/null | wc -l
      rm /mnt/ballast
      cloche run -- echo works again`);
    expectDiskFull(lines[0], "full");
    expectDiskFull(lines[1], "full");
    expectDiskFull(lines[2], "full"); // no daemon is there, and none can start
    expect(lines.slice(3)).toEqual(["0", "works again"]);
  });

  it("a cache on it: importing and building are DISK_FULL and leave no part behind", async () => {
    const lines = await onSmallDisk(`
      mkdir /mnt/big; head -c 16M /dev/urandom > /mnt/big/data
      cloche daemon stop > /dev/null; export CLOCHE_CACHE=/mnt/cache CLOCHE_HOME=/mnt/h2
      json workspace create --seed-path /mnt/big
      ls -A /mnt/cache/seeds | grep -v '^empty' | wc -l
      ls -A /mnt/h2/workspaces 2>/dev/null | wc -l
      cloche daemon stop > /dev/null`);
    expectDiskFull(lines[0], "no space");
    expect(lines.slice(1)).toEqual(["0", "0"]);
  });
});
