import { describe, expect, it } from "vitest";
import { currentIdMap } from "../../base/id-map.ts";
import { containerConfig } from "./container-config.ts";

interface Config {
  readonly Entrypoint: readonly string[];
  readonly HostConfig: {
    readonly Mounts: readonly { Source: string; Target: string; ReadOnly?: boolean }[];
    readonly Tmpfs: Record<string, string>;
  };
}

function config(): Config {
  const spec = {
    workspaceId: "ws-1-g1",
    directory: "/h/g1",
    rootfs: { name: "e", digest: "d", root: "/r", hostPaths: ["/usr", "/etc/alternatives"] },
    baseline: "/b",
    layers: ["/l0", "/l1"],
    hostname: "h",
    limits: { vcpuCount: 1, memMib: 256, pids: 64, diskMib: undefined },
    ociRuntime: undefined,
  };
  const plan = { spec, idMap: currentIdMap(0, 0), image: "i", name: "n", labels: {}, links: "/links" };
  return containerConfig(plan) as Config;
}

describe("containerConfig()", () => {
  it("G-21: what runs first is mounted deeper than all else, so after it, and nothing can cover it", () => {
    const { Entrypoint, HostConfig } = config();
    const depth = (path: string) => path.split("/").length;
    const others = HostConfig.Mounts.map(({ Target }) => Target).filter((target) => target !== Entrypoint[0]);
    expect(others.length).toBe(HostConfig.Mounts.length - 1);
    for (const target of [...others, ...Object.keys(HostConfig.Tmpfs)])
      expect(depth(Entrypoint[0] ?? ""), target).toBeGreaterThan(depth(target));
  });
});
