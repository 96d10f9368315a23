import { expect, it } from "vitest";
import type { Backend } from "../contracts/backend.ts";
import type { Rootfs } from "../contracts/environment.ts";
import { requireCapabilities } from "./require-capabilities.ts";

const vm = { name: "vm", capabilities: { hostFolders: false, ociRuntime: false, liveSnapshots: true } } as Backend;
const rootfs: Rootfs = { name: "host", root: "/r", digest: "d", hostPaths: ["/usr"], coveredPaths: [] };

it("shows the whole command that moves a workspace to a backend without folders of the host", () => {
  const asked = { rootfs, ociRuntime: null };
  expect(() => requireCapabilities(vm, { ...asked, from: "ws-4" })).toThrow(
    expect.objectContaining({
      code: "NOT_SUPPORTED",
      hint: "Use another environment: `cloche workspace create debian:12 --from-workspace ws-4 --backend vm`",
    }) as Error,
  );
  expect(() => requireCapabilities(vm, asked)).toThrow(
    expect.objectContaining({ hint: "Use another environment, such as debian:12" }) as Error,
  );
});
