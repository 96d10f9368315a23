import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARITY_SCENARIOS } from "../../src/parity/all-scenarios.ts";
import { removeUserFolder, runAsUser, type UserOptions, userCache } from "../helpers/as-user.ts";
import { parityColumn } from "./parity-page.ts";

const SLOWEST_MS = 400_000;

interface Target {
  readonly backend: string;
  /** Of the scenarios; all where none is named. */
  readonly topics: readonly string[];
  readonly options: UserOptions;
}

const TARGETS: readonly Target[] = [
  // What a user's machines do otherwise on the way; all scenarios take two minutes on each, and come out as root's do.
  { backend: "vm", topics: ["life", "live snapshots", "isolation", "adoption", "secrets"], options: {} },
  { backend: "docker", topics: [], options: { engine: true } },
  {
    backend: "smolmachines",
    topics: ["life", "moving"],
    options: { machines: true },
  },
];

/** The exported suite, run by somebody who is not root and has no KVM: what comes out is what docs/parity.md tells of root. */
describe("parity: an ordinary user", () => {
  let cache: string;
  beforeAll(async () => {
    cache = await userCache();
  }, SLOWEST_MS);
  afterAll(() => removeUserFolder(cache));

  it.each(TARGETS)(
    "$backend: every scenario comes out as it does for root, and nothing is left",
    async ({ backend, topics, options }) => {
      const words = topics.map((topic) => `'${topic}'`).join(" ");
      const script = `exec /mnt/node /mnt/project/test/fixtures/parity-run.mjs ${backend} ${words}`;
      const { stdout, stderr, code } = await runAsUser(script, { ...options, cache, timeoutMs: SLOWEST_MS });
      expect(stderr).toBe("");
      expect(code).toBe(0);
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Line);
      const chosen = PARITY_SCENARIOS.filter(({ topic }) => topics.length === 0 || topics.includes(topic));
      const column = parityColumn(backend);
      expect(Object.fromEntries(lines.flatMap(outcome))).toEqual(
        Object.fromEntries(chosen.map(({ title }) => [title, column[title]])),
      );
      expect(lines.at(-1)).toEqual({ left: [] });
    },
    SLOWEST_MS,
  );

  it("vm: where user namespaces are forbidden, nothing starts, and doctor and create say how to allow them", async () => {
    const script = `trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      $CLOCHE doctor --json | tr -d '\\n'; echo
      $CLOCHE workspace create debian:12 --backend vm --json | tr -d '\\n'; echo; ls c/workspaces 2>/dev/null | wc -l`;
    const { stdout, stderr } = await runAsUser(script, { cache, userNamespaces: false });
    const [doctor = "", create = "", folders] = stdout.trim().split("\n");
    const why = expect.stringContaining("user namespaces") as string;
    const hint = expect.stringContaining("sysctl") as string;
    const { backends } = JSON.parse(doctor) as { backends: { name: string }[] };
    expect(backends.find(({ name }) => name === "vm")).toMatchObject({ available: false, detail: why, hint });
    expect(JSON.parse(create)).toMatchObject({ error: { code: "BACKEND_UNAVAILABLE", message: why, hint } });
    expect(folders).toBe("0");
    expect(stderr).toBe("");
  });

  it("docker: an engine that the user may not talk to is told from one that is not there", async () => {
    const script = `trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      touch engine.sock; chmod 0 engine.sock
      DOCKER_HOST=unix://$HOME/engine.sock $CLOCHE workspace create --backend docker --json`;
    const { stdout } = await runAsUser(script);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "BACKEND_UNAVAILABLE", hint: expect.stringContaining("group") as string },
    });
  });
});

interface Line {
  readonly title?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly left?: readonly string[];
}

const outcome = ({ title, outcome = "", reason }: Line): [string, string][] =>
  title === undefined ? [] : [[title, reason === undefined ? outcome : `${outcome}: ${reason}`]];
