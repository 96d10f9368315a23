import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Backend } from "../contracts/backend.ts";
import type { BottlePlan } from "../model/bottle-plan.ts";
import { planRun, type RunRequest } from "./plan-run.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cloche-placed-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const backend = { name: "container", capabilities: { hostFolders: true } } as Backend;
const plan = (request: Pick<RunRequest, "manifest">) =>
  planRun(
    { home, backends: new Map([["container", backend]]), config: () => ({}) },
    { agent: "demo", project_path: "/there", ...request },
  );
const inObject = (bottle: object) =>
  plan({ manifest: { bottles: { dev: bottle }, agents: { demo: { bottle: "dev" } } } });

it("takes a file with certificates from the folder of the bottle, or of the caller, and ~/ from the user's home", async () => {
  const bottle = {
    egress: { routes: ["up.pem", "~/up.pem", "/etc/up.pem"].map((ca, at) => ({ host: `h${at}.example.com`, ca })) },
    git: { repos: { app: { url: "https://git.example.com/app.git", ca: "./git.pem" } } },
  };
  const authorities = ({ egress_plan, git_gate_plan }: BottlePlan) => [
    ...egress_plan.routes.flatMap(({ route }) => route.ca ?? []),
    ...git_gate_plan.upstreams.flatMap(({ repo }) => repo.ca ?? []),
  ];
  const own = [join(homedir(), "up.pem"), "/etc/up.pem"];
  expect(authorities(await inObject(bottle))).toEqual(["/there/up.pem", ...own, "/there/git.pem"]);

  for (const kind of ["bottles", "agents"]) mkdirSync(join(home, kind));
  writeFileSync(join(home, "bottles/dev.md"), `---\n${JSON.stringify(bottle)}\n---\n`);
  writeFileSync(join(home, "agents/demo.md"), "---\nbottle: dev\n---\n");
  const folder = join(home, "bottles");
  expect(authorities(await plan({}))).toEqual([join(folder, "up.pem"), ...own, join(folder, "git.pem")]);
});

it("starts a token command from that folder, and one that is a mere name from the PATH", async () => {
  const auth = (token_command: string[]) => ({ scheme: "Bearer", token_command });
  const routes = [
    { host: "a.example.com", auth: auth(["./get-token", "./x"]) },
    { host: "b.example.com", auth: [auth(["get-token"])] },
  ];
  const { egress_plan } = await inObject({ egress: { routes } });
  expect(egress_plan.routes.flatMap(({ route }) => route.auth ?? [])).toMatchObject([
    auth(["/there/get-token", "./x"]),
    auth(["get-token"]),
  ]);
});
