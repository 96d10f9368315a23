import { expect, it } from "vitest";
import type { Backend } from "../contracts/backend.ts";
import { failure } from "../model/error-codes.ts";
import type { Progress } from "../model/progress.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { checkHealth } from "./health.ts";

const PLACES = { home: "/h", cache: "/c" };

/** Backends that work, in an installation that can build nothing; one tells what it does. */
function dependencies(): Dependencies {
  const backend = (name: string, hostFolders: boolean): [string, Pick<Backend, "name" | "capabilities" | "probe">] => [
    name,
    {
      name,
      capabilities: { hostFolders, ociRuntime: false, liveSnapshots: false },
      probe: (_runtime, progress) => {
        progress?.({ step: `trying ${name}` });
        return Promise.resolve({ available: true, detail: "works", hint: null, limits: [] });
      },
    },
  ];
  const lacking = failure("ENVIRONMENT_BUILD_FAILED", "Nobody has a range in /etc/subuid", { hint: "Run usermod" });
  const parts = {
    config: () => ({}),
    backends: new Map([backend("box", true), backend("machine", false)]),
    environments: {
      list: () => Promise.resolve([]),
      obstacle: (name: string) => Promise.resolve(name === "host" ? undefined : lacking),
    },
  };
  return parts as unknown as Dependencies;
}

it("a backend that works and whose default environment cannot be built says what to do", async () => {
  const { backends } = await checkHealth(dependencies(), PLACES, "1", {});
  expect(backends.map(({ name, available, hint }) => [name, available, hint])).toEqual([
    ["box", true, null],
    [
      "machine",
      true,
      "It works, but not with debian:12, its default environment. Nobody has a range in /etc/subuid. Run usermod",
    ],
  ]);
});

it("tells what it does meanwhile", async () => {
  const steps: Progress[] = [];
  await checkHealth(dependencies(), PLACES, "1", {}, (progress) => steps.push(progress));
  expect(steps).toEqual([{ step: "trying box" }, { step: "trying machine" }]);
});
