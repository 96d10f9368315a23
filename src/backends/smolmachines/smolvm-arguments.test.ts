import { describe, expect, it } from "vitest";
import {
  bareArguments,
  copyInArguments,
  createArguments,
  deleteArguments,
  detachArguments,
  execArguments,
  listArguments,
  startArguments,
  statusArguments,
  stopArguments,
  versionArguments,
} from "./smolvm-arguments.ts";

const machine = {
  name: "cloche-ab-ws-1-g1",
  image: "/cache/smolmachines/abc",
  vcpuCount: 2,
  memMib: 1024,
  labels: { "cloche.home": "ab", "cloche.workspace": "ws-1-g1" },
  socket: { guest: "/workspace/.cloche/guest.sock", host: "/home/u/.cloche/workspaces/ws-1/g1/guest.sock" },
};

describe("smolvm machine create", () => {
  it("has an unpacked root file system, its size, a socket, labels, and no network", () => {
    expect(createArguments(machine)).toEqual([
      ...["machine", "create", "--name", "cloche-ab-ws-1-g1", "--image", "/cache/smolmachines/abc"],
      ...["--cpus", "2", "--mem", "1024"],
      ...["--expose-socket", "/workspace/.cloche/guest.sock:/home/u/.cloche/workspaces/ws-1/g1/guest.sock"],
      ...["--label", "cloche.home=ab", "--label", "cloche.workspace=ws-1-g1"],
    ]);
  });

  it("takes a .smolmachine by --from", () => {
    expect(createArguments({ ...machine, image: "/a/agent.smolmachine" }).slice(4, 6)).toEqual([
      "--from",
      "/a/agent.smolmachine",
    ]);
  });

  it("of a bare machine names no image", () => {
    expect(bareArguments("probe", { a: "b" })).toEqual([
      ...["machine", "create", "--name", "probe", "--cpus", "1", "--mem", "256", "--label", "a=b"],
    ]);
  });
});

describe("smolvm machine exec", () => {
  it("has the command after --, as it is", () => {
    expect(execArguments("m", ["mkdir", "-p", "/a b"], false)).toEqual([
      ...["machine", "exec", "--name", "m", "--", "mkdir", "-p", "/a b"],
    ]);
    expect(execArguments("m", ["cat"], true)).toEqual(["machine", "exec", "--name", "m", "-i", "--", "cat"]);
    expect(detachArguments("m", ["sleep", "1"])).toEqual([
      ...["machine", "exec", "--name", "m", "-d", "--", "sleep", "1"],
    ]);
  });
});

describe("smolvm machine cp", () => {
  it("has machine:path, and a source in which no colon can be", () => {
    expect(copyInArguments("m", "cloche-guest", "/workspace/.cloche/guest", "755")).toEqual([
      ...["machine", "cp", "--mode", "755", "./cloche-guest", "m:/workspace/.cloche/guest"],
    ]);
  });
});

it("the other commands name the machine by a flag", () => {
  expect(versionArguments()).toEqual(["--version"]);
  expect(startArguments("m")).toEqual(["machine", "start", "-n", "m"]);
  expect(statusArguments("m")).toEqual(["machine", "status", "-n", "m", "--json"]);
  expect(listArguments()).toEqual(["machine", "ls", "--json"]);
  expect(stopArguments("m")).toEqual(["machine", "stop", "-n", "m"]);
  expect(deleteArguments("m"), "without -f it asks, and a no is a success").toEqual([
    "machine",
    "delete",
    "-n",
    "m",
    "-f",
  ]);
});
