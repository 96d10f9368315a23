import { expect, it } from "vitest";
import type { ScopedClient } from "./scope/scoped-client.ts";
import type { ToolContext } from "./tool.ts";
import { TOOLS } from "./tool-registry.ts";

/** Any call ends here: what matters is what was read before it was made. */
const unreachable = new Proxy({} as ScopedClient, {
  get: () => () => Promise.reject(new Error("not reached")),
});

/** Which part of an answer is wanted: read once the answer is there. */
const OF_THE_ANSWER = ["cursor", "offset"];

it("every tool passes on every argument that it offers", async () => {
  for (const tool of Object.values(TOOLS)) {
    const read = new Set<PropertyKey>();
    const input = new Proxy(Object.fromEntries(Object.keys(tool.input.shape).map((name) => [name, undefined])), {
      get: (target, name) => (read.add(name), Reflect.get(target, name) as unknown),
    });
    const context: ToolContext = {
      cloche: unreachable,
      signal: new AbortController().signal,
      defaults: {},
    };
    await Promise.resolve()
      .then(() => tool.run(input, context))
      .catch(() => undefined);
    const passedOn = Object.keys(tool.input.shape).filter((name) => !OF_THE_ANSWER.includes(name));
    expect([...read], tool.name).toEqual(expect.arrayContaining(passedOn));
  }
});

it("G-57 no tool takes an egress policy, which names files and commands of the host", () => {
  for (const tool of Object.values(TOOLS)) expect(Object.keys(tool.input.shape).join(" ")).not.toMatch(/egress/);
});
