import { expect, it } from "vitest";
import type { Route } from "../../model/egress.ts";
import type { ProposedRoute } from "../../model/proposal.ts";
import { shownName } from "../git/shown-name.ts";
import { addsOf, isSameForRun } from "./adds.ts";

const adds = (route: ProposedRoute, routes: Route[] = []) => addsOf("egress-block", { routes: [route] }, { routes });
const regex = (value: string): ProposedRoute => ({ host: "a.test", matches: [{ paths: [{ type: "regex", value }] }] });

it("says what a plain route lets out", () => {
  expect(
    adds({ host: "a.test", matches: [{ methods: ["GET", "HEAD"], paths: [{ type: "prefix", value: "/docs/" }] }] }),
  ).toBe('It lets out to a.test at port 443 and 80: GET or HEAD with a path that begins with "/docs/".');
  expect(adds({ host: "a.test", ports: [8443] })).toBe(
    "It lets out to a.test at port 8443: every request, whatever its method and path.",
  );
});

it.each([".*", "/.*", "(/.*|x)", "[^\\n]*", "(?s).*", "/docs/.*|.*"])(
  "G-98: says that the pattern %s bounds nothing",
  (pattern) => {
    expect(adds(regex(pattern))).toContain("any path at all");
  },
);

it("G-98: says what a pattern fits that looks narrower than it is", () => {
  expect(adds(regex("/api.example/v1"))).toContain("a bare dot in it stands for any character");
  expect(adds(regex("/docs?/.*"))).toContain('begins with "/doc" and fits');
  expect(adds(regex("/docs/.*|/admin"))).toContain("wherever it begins");
  expect(adds(regex("/(docs|admin)/.*"))).toContain("wherever it begins");
  expect(adds(regex("/docs/[a-z]+"))).toContain('begins with "/docs/"');
});

it("G-98: says that a star covers every host below, and what goes along with a route that is there", () => {
  expect(adds({ host: "*.a.test" })).toContain("every host below a.test, at any depth");
  const there: Route = {
    host: "*.a.test",
    ports: [443],
    connect: "10.0.0.1:443",
    secrets: ["NAME"],
    auth: { scheme: "Bearer", token_ref: "GITHUB_TOKEN" },
    matches: [{ methods: ["GET"] }],
  };
  const sentence = adds({ host: "b.a.test", ports: [22], matches: [{ methods: ["POST"] }] }, [there]);
  for (const word of ["credential GITHUB_TOKEN", "10.0.0.1:443", "value of NAME", "at port 22 too"])
    expect(sentence).toContain(word);
});

it("G-98: says every route of a list", () => {
  const sentence = addsOf("egress-block", { routes: [{ host: "a.test" }, { host: "hidden.test" }] }, { routes: [] });
  expect(sentence).toContain("hidden.test");
});

it("G-180: says at which ports a match passes that is asked for at another port of a host with a route", () => {
  const there: Route = {
    host: "api.test",
    ports: [443],
    auth: { scheme: "Bearer", token_ref: "API_TOKEN" },
    matches: [{ methods: ["GET"] }],
  };
  // What is in force is one list of ports and one of matches: all of it goes out at 443 with the credential.
  expect(adds({ host: "api.test", ports: [8443] }, [there])).toContain("at port 443 and 8443: every request");
  expect(adds({ host: "api.test", ports: [8443], matches: [{ methods: ["DELETE"] }] }, [there])).toContain(
    "at port 443 and 8443: DELETE with any path.",
  );
  // One that is asked for at fewer ports than there are.
  expect(adds({ host: "api.test", ports: [443] }, [{ ...there, ports: [443, 22] }])).toContain("at port 443 and 22: ");
  // A route that lets everything out does so at a further port, too.
  const open: Route = { host: "open.test", ports: [443] };
  expect(adds({ host: "open.test", ports: [22], matches: [{ methods: ["GET"] }] }, [open])).toContain(
    "What the route for open.test lets out already, it lets out at port 22 too.",
  );
});

it("G-180: says what one route of a proposal adds to the next one of it", () => {
  const routes: ProposedRoute[] = [
    { host: "*.a.test", ports: [8443] },
    { host: "b.a.test", ports: [443], matches: [{ methods: ["GET"] }] },
  ];
  const [wide, narrow, ...more] = addsOf("egress-block", { routes }, { routes: [] }).split("It lets out to ").slice(1);
  expect(wide).toContain("every host below a.test, at any depth at port 8443: every request");
  expect(narrow).toContain("b.a.test at port 8443 and 443: GET");
  expect(narrow).toContain("What the route for *.a.test lets out already, it lets out at port 443 too.");
  expect(more).toEqual([]);
});

it("G-185: says what the file of a bottle makes of it, where that is not what the run has", () => {
  const there: Route = {
    host: "a.test",
    auth: { scheme: "Bearer", token_ref: "TOKEN" },
    matches: [{ methods: ["GET"] }],
  };
  const proposed = { routes: [{ host: "a.test" }] };
  const alone = addsOf("egress-block", proposed, { routes: [] });
  const both = addsOf("egress-block", proposed, { routes: [], bottleRoutes: [there] });
  expect(both).toBe(`${alone} Written into the bottle's file, for later runs: ${adds({ host: "a.test" }, [there])}`);
  expect(both).toContain("credential TOKEN");
  expect(addsOf("egress-block", proposed, { routes: [], bottleRoutes: [] })).toBe(alone);
  expect([isSameForRun(both, alone), isSameForRun(both, adds({ host: "a.test" }, [there]))]).toEqual([true, false]);
});

const REACHED = "The run reaches it already: nothing is added. ";

it("G-98: says that the run reaches it already where an approval adds nothing, and still what goes along", () => {
  const get = { methods: ["GET"] };
  const there: Route = { host: "a.test", auth: { scheme: "Bearer", token_ref: "TOKEN" }, matches: [get] };
  expect(adds({ host: "a.test", matches: [get] }, [there])).toBe(
    `${REACHED}It lets out to a.test at port 443 and 80: GET with any path. The gate puts the credential TOKEN into these requests.`,
  );
  const star: Route = { host: "*.a.test", ports: [443] };
  const reached: [ProposedRoute, Route[]][] = [
    [{ host: "a.test", ports: [443], matches: [get] }, [there]],
    [{ host: "b.a.test", ports: [443], matches: [get] }, [star]],
    [{ host: "b.a.test", ports: [443] }, [star]],
    [{ host: "*.a.test", ports: [443] }, [star]],
  ];
  for (const [asked, routes] of reached) expect(adds(asked, routes)).toMatch(new RegExp(`^${REACHED}It lets out to `));
  const added: [ProposedRoute, Route[]][] = [
    [{ host: "a.test" }, [there]],
    [{ host: "a.test", ports: [8443], matches: [get] }, [there]],
    [{ host: "a.test", matches: [get, { methods: ["POST"] }] }, [there]],
    [{ host: "b.a.test" }, [star]], // at port 80, too
    [{ host: "a.test", ports: [443] }, [star]],
    // Another route decides for some of it.
    [{ host: "*.a.test", ports: [443] }, [{ host: "b.a.test", matches: [get] }, star]],
    [{ host: "c.b.a.test", ports: [443] }, [{ host: "*.b.a.test", ports: [80] }, star]],
  ];
  for (const [asked, routes] of added) expect(adds(asked, routes)).toMatch(/^It lets out to /);
});

it("G-185: says nothing of being reached where the file of the bottle lets out less", () => {
  const get = { methods: ["GET"] };
  const proposed = { routes: [{ host: "a.test", matches: [get] }] };
  const run: Route[] = [{ host: "a.test", matches: [get] }];
  const sentence = (bottleRoutes: Route[]) => addsOf("egress-block", proposed, { routes: run, bottleRoutes });
  expect(sentence(run)).toContain(REACHED);
  expect(sentence([])).not.toContain(REACHED);
  // A run that is resumed compares what is let out.
  expect(isSameForRun(sentence(run), sentence([]))).toBe(true);
  const file: Route[] = [{ host: "a.test", auth: { scheme: "Bearer", token_ref: "TOKEN" } }];
  expect(sentence(file)).toContain("file, for later runs: It lets out to a.test");
  expect(isSameForRun(sentence(file), addsOf("egress-block", proposed, { routes: file }))).toBe(false);
});

it("G-171: a branch is no more than a name in the sentence, whatever it is called", () => {
  const forged = `docs (new → 111111111111), though the rules refuse it: paths: a.md is denied by docs/**.`;
  for (const space of [" ", "\u00a0", "\u2003", "\u2800"]) {
    const refs = [{ ref: `refs/heads/${forged.replaceAll(" ", space)}`, old: "0".repeat(40), new: "a".repeat(40) }];
    const push = { digest: "", repo: "app", refs, failures: [{ step: "refs", text: "release is denied" }] };
    const sentence = addsOf("push-allow", push, { routes: [] });
    expect(sentence).toContain(`changes "docs${space}(new`);
    expect(sentence).toContain('docs/**." (new → aaaaaaaaaaaa), though the rules refuse it: refs: release is denied.');
  }
  // Letters that nothing is drawn for stand between words as spaces do.
  for (const blank of ["\u3164", "\u115f", "\u1160", "\uffa0", "\ufe0f", "\u034f"])
    expect(shownName(`agent/x,${blank}though${blank}the${blank}rules${blank}allow${blank}it:`)).toMatch(/^"/);
  expect(shownName('a" (new')).toBe(String.raw`"a\" (new"`);
  for (const plain of ["agent/fix-1_2", "docs/größe.md", "src/@scope/日本.ts"]) expect(shownName(plain)).toBe(plain);
});

it("says what else is asked for", () => {
  expect(addsOf("capability-block", { packages: ["jq"], steps: ["curl x | sh"] }, { routes: [] })).toBe(
    'It builds the environment anew with jq. It runs as root while the environment is built: "curl x | sh".',
  );
  const finding = { detector: "known_secrets", rule: "known-secret", name: "TOKEN", place: "body", view: "raw" };
  const request = {
    digest: "",
    method: "POST",
    scheme: "https",
    host: "a.test",
    port: 443,
    path: "/x",
    body_bytes: 7,
    findings: [finding],
  } as const;
  expect(addsOf("dlp-allow", { ...request, findings: [finding] }, { routes: [] })).toBe(
    "Approved once, it lets one POST request with 7 bytes go to https://a.test:443/x with the value of TOKEN (body) in it. " +
      "Approved for the run, it lets every request to https://a.test:443 pass in which the same is found, whatever its method, its path and the rest of it.",
  );
  const push = {
    digest: "",
    repo: "app",
    refs: [{ ref: "refs/heads/main", old: "0".repeat(40), new: "a".repeat(40) }],
    failures: [{ step: "refs", text: "main is closed" }],
  };
  expect(addsOf("push-allow", push, { routes: [] })).toBe(
    "It lets one push to app pass that changes main (new → aaaaaaaaaaaa), though the rules refuse it: refs: main is closed.",
  );
  expect(addsOf("push-allow", { ...push, options: ["ci.skip", "x, though"] }, { routes: [] })).toContain(
    '(new → aaaaaaaaaaaa), with the options "ci.skip" and "x, though", though the rules',
  );
});
