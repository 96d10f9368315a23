import { expect, it } from "vitest";
import type { Cloche } from "../../sdk/cloche.ts";
import { FILES, findCandidates } from "./candidates.ts";
import { COMMAND_TREE } from "../registry.ts";

const client = {
  daemonStatus: () => Promise.resolve({ running: true }),
  listWorkspaces: () =>
    Promise.resolve({
      count: 2,
      workspaces: [
        { workspace_id: "ws-aaaaaaaaaa", name: "one" },
        { workspace_id: "ws-bbbbbbbbbb", name: null, environment: "host" },
      ],
    }),
  listEnvironments: () => Promise.resolve({ count: 1, environments: [{ name: "debian:12", description: "Debian" }] }),
  listServices: (id: string) => Promise.resolve({ services: [{ service_name: `web-of-${id}`, state: "running" }] }),
  listShells: (id: string) => Promise.resolve({ shells: [{ shell_id: `sh-of-${id}`, state: "running" }] }),
  listSnapshots: (id: string) => Promise.resolve({ snapshots: [{ snapshot_name: `mid-of-${id}`, kind: "named" }] }),
} as unknown as Cloche;

const words = async (...typed: string[]) => {
  const found = await findCandidates(COMMAND_TREE, typed, () => Promise.resolve(client));
  return found === FILES ? FILES : found.map(({ text }) => text);
};

it("offers the ids of workspaces and the names that only one has, also after options", async () => {
  expect(await words("workspace", "status", "")).toEqual(["ws-aaaaaaaaaa", "ws-bbbbbbbbbb", "one"]);
  expect(await words("rm", "first", "ws-b")).toEqual(["ws-bbbbbbbbbb"]);
  expect(await words("--json", "ws", "update", "--name", "x", "ws-b")).toEqual(["ws-bbbbbbbbbb"]);
});

it("offers what is short for commands, and completes after it", async () => {
  expect(await words("l")).toEqual(["list", "ls"]);
  expect(await words("ws", "r")).toEqual(["reset", "rm"]);
  expect(await words("ls", "--q")).toEqual(["--quiet"]);
  expect(await words("ws", "shell", "attach", "ws-1", "")).toEqual(["sh-of-ws-1"]);
});

it("offers environments, then where the command goes", async () => {
  expect(await words("run", "deb")).toEqual(["debian:12"]);
  expect(await words("run", "debian:12", "")).toEqual(["--"]);
  expect(await words("demo", "--environment", "")).toEqual(["debian:12"]);
});

it("completes a value that is typed into the same word as its option", async () => {
  expect(await words("ws", "reset", "ws-1", "--snapshot=m")).toEqual(["--snapshot=mid-of-ws-1"]);
  expect(await words("ws", "create", "--network-policy=p")).toEqual(["--network-policy=published-ports"]);
  expect(await words("ws", "create", "--network-policy=eg")).toEqual(["--network-policy=egress"]);
  expect(await words("ws", "create", "--seed-path=x")).toBe(FILES);
  expect(await words("ws", "create", "--id-only=")).toEqual([]);
  expect(await words("ws", "create", "--nonsense=")).toEqual([]);
});

it("leaves paths and the command's own words to the shell", async () => {
  expect(await words("workspace", "export", "ws-1", "a", "--output", "")).toBe(FILES);
  expect(await words("run", "--", "ls", "")).toBe(FILES);
});

it("has no answer where the daemon fails", async () => {
  expect(
    await findCandidates(COMMAND_TREE, ["workspace", "status", ""], () => Promise.reject(new Error("down"))),
  ).toEqual([]);
});

it("offers what belongs to the workspace that was typed", async () => {
  expect(await words("ws", "service", "logs", "ws-1", "")).toEqual(["web-of-ws-1"]);
  expect(await words("ws", "snapshot", "delete", "--json", "ws-1", "m")).toEqual(["mid-of-ws-1"]);
  expect(await words("ws", "reset", "ws-1", "--snapshot", "")).toEqual(["mid-of-ws-1"]);
  expect(await words("ws", "reset", "--snapshot", "")).toEqual([]);
  expect(await words("ws", "sync", "push", "ws-1", "")).toBe(FILES);
});
