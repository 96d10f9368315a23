import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bottle } from "../../model/bottle.ts";
import { mergeBottles } from "./merge-bottles.ts";

type Bottles = Readonly<Record<string, Bottle>>;

const merge = (names: readonly string[], bottles: Bottles) =>
  mergeBottles(names, (name, child) => {
    const found = Object.hasOwn(bottles, name) ? bottles[name] : undefined;
    if (!found) throw new Error(`${child ?? "nobody"} wants ${name}`);
    return found;
  });

describe("mergeBottles()", () => {
  it("merges variables by name, repositories by field, the identity by field, limits by name, and lets the child win", () => {
    const { bottle, names, sources } = merge(["leaf"], {
      base: {
        environment: "host",
        supervise: false,
        env: { SHARED: "base", ONLY_BASE: "1" },
        limits: { mem_mib: 512, pids: 64 },
        git: { user: { name: "Base", email: "base@example.com" }, repos: { app: { url: "file:///a", host_key: "k" } } },
      },
      leaf: {
        extends: "base",
        supervise: true,
        env: { SHARED: "leaf" },
        limits: { pids: 128 },
        git: { user: { email: "leaf@example.com" }, repos: { app: { url: "file:///b" }, lib: { url: "file:///l" } } },
      },
    });
    expect(bottle).toEqual({
      environment: "host",
      supervise: true,
      env: { SHARED: "leaf", ONLY_BASE: "1" },
      limits: { mem_mib: 512, pids: 128 },
      git: {
        user: { name: "Base", email: "leaf@example.com" },
        repos: { app: { url: "file:///b", host_key: "k" }, lib: { url: "file:///l" } },
      },
    });
    expect(names).toEqual(["base", "leaf"]);
    expect(sources).toMatchObject({
      environment: "base",
      supervise: "leaf",
      "env.SHARED": "leaf",
      "env.ONLY_BASE": "base",
      "git.user.name": "base",
      "git.user.email": "leaf",
      "git.repos.app.url": "leaf",
      "git.repos.app.host_key": "base",
      "limits.mem_mib": "base",
    });
  });

  it("joins routes, parents first, and puts a child's route for the same host where the parent's stood", () => {
    const { bottle, sources } = merge(["leaf"], {
      base: { egress: { log: "all", routes: [{ host: "a.example.com" }, { host: "*.example.com" }] } },
      leaf: {
        extends: "base",
        egress: { routes: [{ host: "a.example.com", tls: "passthrough" }, { host: "b.example.org" }] },
      },
    });
    expect(bottle.egress).toEqual({
      log: "all",
      routes: [{ host: "a.example.com", tls: "passthrough" }, { host: "*.example.com" }, { host: "b.example.org" }],
    });
    expect(sources["egress.routes.a.example.com"]).toBe("leaf");
    expect(sources["egress.log"]).toBe("base");
  });

  it("takes the provider as a whole: the credential of one is not for another", () => {
    const { bottle } = merge(["leaf"], {
      base: { agent_provider: { template: "claude", auth_token: "CLAUDE_TOKEN" } },
      leaf: { extends: "base", agent_provider: { template: "codex" } },
    });
    expect(bottle.agent_provider).toEqual({ template: "codex" });
  });

  it("counts an ancestor of several once, before all that extend it", () => {
    const bottles: Bottles = {
      root: { env: { WHO: "root" } },
      left: { extends: "root", env: { WHO: "left" } },
      right: { extends: "root" },
      tip: { extends: ["left", "right"] },
    };
    const { bottle, names } = merge(["tip"], bottles);
    expect(names).toEqual(["root", "left", "right", "tip"]);
    expect(bottle.env).toEqual({ WHO: "left" });
  });

  it.each([
    [{ a: { extends: "a" } }, 'Bottle "a" extends itself'],
    [{ a: { extends: "b" }, b: { extends: ["c"] }, c: { extends: "a" } }, "a → b → c → a"],
    [{ a: { extends: "b" } }, "a wants b"],
  ] as [Bottles, string][])("refuses %j", (bottles, message) => {
    expect(() => merge(["a"], bottles)).toThrow(message);
  });
});

const NAMES = ["a", "b", "c", "d", "e"] as const;
const KEYS = ["X", "Y", "Z"] as const;
const HOSTS = ["one.example.com", "two.example.com", "*.example.org"] as const;

/** A bottle that extends only later names: there is no circle. */
const bottleAt = (index: number): fc.Arbitrary<Bottle> =>
  fc
    .record(
      {
        extends: fc.uniqueArray(fc.constantFrom(...NAMES.slice(index + 1), NAMES[4]), { minLength: 1, maxLength: 3 }),
        env: fc.dictionary(fc.constantFrom(...KEYS), fc.string(), { maxKeys: 3 }),
        supervise: fc.boolean(),
        environment: fc.constantFrom("host", "debian:12"),
        egress: fc.record(
          {
            log: fc.constantFrom("off", "blocks", "all"),
            routes: fc.uniqueArray(
              fc.record({
                host: fc.constantFrom(...HOSTS),
                ports: fc.array(fc.constantFrom(80, 443), { minLength: 1, maxLength: 1 }),
              }),
              { selector: ({ host }) => host },
            ),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    )
    .map((bottle) => (index === NAMES.length - 1 ? { ...bottle, extends: undefined } : bottle))
    .map((bottle) => JSON.parse(JSON.stringify(bottle)) as Bottle);

const anyBottles = fc
  .tuple(...NAMES.map((_, index) => bottleAt(index)))
  .map((list) => Object.fromEntries(NAMES.map((name, index) => [name, list[index] ?? {}])));

/** The rules, said another way: who comes before whom, and then field by field the last who says something. */
function model(names: readonly string[], bottles: Bottles) {
  const order: string[] = [];
  const parents = (name: string) => [bottles[name]?.extends ?? []].flat();
  const add = (name: string): void => {
    for (const parent of parents(name)) add(parent);
    if (!order.includes(name)) order.push(name);
  };
  names.forEach(add);
  const last = <Value>(pick: (bottle: Bottle) => Value | undefined) =>
    order.map((name) => pick(bottles[name] ?? {})).findLast((value) => value !== undefined);
  const hosts = [...new Set(order.flatMap((name) => bottles[name]?.egress?.routes?.map(({ host }) => host) ?? []))];
  return {
    order,
    supervise: last(({ supervise }) => supervise),
    environment: last(({ environment }) => environment),
    env: Object.fromEntries(
      KEYS.flatMap((key) => {
        const value = last(({ env }) => (env && Object.hasOwn(env, key) ? env[key] : undefined));
        return value === undefined ? [] : [[key, value]];
      }),
    ),
    log: last(({ egress }) => egress?.log),
    routes: hosts.map((host) => last(({ egress }) => egress?.routes?.find((route) => route.host === host))),
  };
}

describe("mergeBottles() beside a model of it", () => {
  it("agrees on random bottles, whoever extends whom", () => {
    fc.assert(
      fc.property(
        anyBottles,
        fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
        (bottles, names) => {
          const before = structuredClone(bottles);
          const { bottle, names: order } = merge(names, bottles);
          const expected = model(names, bottles);
          expect(order).toEqual(expected.order);
          expect(bottle.supervise).toBe(expected.supervise);
          expect(bottle.environment).toBe(expected.environment);
          expect(bottle.env ?? {}).toEqual(expected.env);
          expect(bottle.egress?.log).toBe(expected.log);
          expect(bottle.egress?.routes ?? []).toEqual(expected.routes);
          expect(bottle).not.toHaveProperty("extends");
          expect(bottles).toEqual(before);
        },
      ),
    );
  });

  it("gives what can be merged again: a merged bottle is a bottle, and merging it alone changes nothing", () => {
    fc.assert(
      fc.property(anyBottles, (bottles) => {
        const { bottle } = merge(["a"], bottles);
        expect(Bottle.safeParse(bottle).success).toBe(true);
        expect(merge(["whole"], { whole: bottle }).bottle).toEqual(bottle);
      }),
    );
  });

  it("says of every field a bottle that has it", () => {
    fc.assert(
      fc.property(anyBottles, (bottles) => {
        const { bottle, sources } = merge(["a"], bottles);
        for (const key of Object.keys(bottle.env ?? {}))
          expect(bottles[sources[`env.${key}`] ?? ""]?.env?.[key]).toBe(bottle.env?.[key]);
        for (const route of bottle.egress?.routes ?? [])
          expect(bottles[sources[`egress.routes.${route.host}`] ?? ""]?.egress?.routes).toContainEqual(route);
      }),
    );
  });
});
