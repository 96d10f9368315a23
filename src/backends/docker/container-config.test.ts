import { describe, expect, it } from "vitest";
import { currentIdMap } from "../../base/id-map.ts";
import { containerConfig } from "./container-config.ts";

interface Config extends Record<string, unknown> {
  readonly Entrypoint: readonly string[];
  readonly HostConfig: {
    readonly Mounts: readonly { Type: string; Source: string; Target: string; ReadOnly?: boolean }[];
    readonly Tmpfs: Record<string, string>;
  };
}

function config(): Config {
  const spec = {
    sandboxName: "ws-1-g1",
    directory: "/h/g1",
    rootfs: { name: "e", digest: "d", root: "/r", hostPaths: ["/usr", "/opt"], coveredPaths: [] },
    baseline: "/b",
    layers: ["/l0", "/l1"],
    hostname: "h",
    limits: { vcpuCount: 1, memMib: 256, pids: 64, diskMib: undefined },
    ociRuntime: undefined,
  };
  const plan = {
    spec,
    idMap: currentIdMap(0, 0),
    image: "i",
    name: "n",
    labels: {},
    links: "/links",
    hostFolders: ["/usr", "/opt"],
    commandsApart: true,
  };
  return containerConfig(plan) as Config;
}

describe("containerConfig()", () => {
  it("G-21: says itself who runs, where and with what, so that no image does", () => {
    expect(config()).toMatchObject({ User: "0:0", Env: [], WorkingDir: "/", Healthcheck: { Test: ["NONE"] } });
  });

  it("G-05: binds everything read-only but the folder of the guest's socket", () => {
    const binds = config().HostConfig.Mounts.filter(({ Type }) => Type === "bind");
    expect(binds.filter(({ ReadOnly }) => !ReadOnly).map(({ Source }) => Source)).toEqual(["/h/g1/socket"]);
    expect(binds.map(({ Source }) => Source)).toEqual(expect.arrayContaining(["/b", "/l0", "/l1"]));
  });

  it("G-02: has a folder of the host as an overlay that nobody can write to, never bound as it is", () => {
    const [usr, opt] = ["/usr", "/opt"].map((path) => config().HostConfig.Mounts.find(({ Target }) => Target === path));
    const options = (index: number) => `lowerdir=/links/c${index}:/links/h${index},userxattr,ro,nosuid,nodev`;
    const volume = (index: number) => ({
      ...{ Type: "volume", Source: `n-h${index}`, ReadOnly: true },
      VolumeOptions: { NoCopy: true, DriverConfig: { Options: { type: "overlay", o: options(index) } } },
    });
    expect(usr).toMatchObject(volume(0));
    expect(opt).toMatchObject(volume(1));
  });

  it("G-21: what runs first is mounted deeper than all else, so after it, and nothing can cover it", () => {
    const { Entrypoint, HostConfig } = config();
    const depth = (path: string) => path.split("/").length;
    const others = HostConfig.Mounts.map(({ Target }) => Target).filter((target) => target !== Entrypoint[0]);
    expect(others.length).toBe(HostConfig.Mounts.length - 1);
    for (const target of [...others, ...Object.keys(HostConfig.Tmpfs)])
      expect(depth(Entrypoint[0] ?? ""), target).toBeGreaterThan(depth(target));
  });
});
