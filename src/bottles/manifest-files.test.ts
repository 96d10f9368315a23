import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manifestFiles } from "./manifest-files.ts";

let root = "";
let home = "";
let project = "";
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const files = () => manifestFiles(home, project);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "cloche-manifest-"));
  home = join(root, "home");
  project = join(root, "project");
  mkdirSync(home);
  mkdirSync(project);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("manifestFiles()", () => {
  it("reads an agent and its body, without the blank lines before it", () => {
    write("home/agents/demo.md", "---\nbottle: dev\nskills: [verify]\n---\n\nBe careful.\n");
    expect(files().agent("demo")).toEqual({
      name: "demo",
      definition: { bottle: "dev", skills: ["verify"] },
      prompt: "Be careful.\n",
      source: "home",
      path: join(home, "agents/demo.md"),
    });
    write("home/agents/empty.md", "---\nbottle: dev\n---\n \n\n");
    expect(files().agent("empty").prompt).toBe("");
  });

  it.each([
    ["---\nbottle: dev\negress: {}\n---\n", 'line 3: unknown key "egress"; allowed are bottle, skills, provider, git'],
    ["---\nskills:\n  - ok\n  - Not_Ok\n---\n", 'line 4: "skills.1" is not valid: "Not_Ok" is no name'],
    ["---\nbottle: [dev]\n---\n", 'line 2: "bottle" must be a string'],
    ["bottle: dev\n", 'line 1: the first line must be "---"'],
    ["---\n- bottle\n---\n", "the input must be an object"],
  ])("says file, line, key and what is allowed: %j", (text, message) => {
    write("home/agents/bad.md", text);
    expect(() => files().agent("bad")).toThrow(join(home, "agents/bad.md"));
    expect(() => files().agent("bad")).toThrow(message);
  });

  it.each([
    ["env: {9BAD: x}", 'line 2: "env.9BAD" has a bad name'],
    ["env: {PORT: 8080}", 'line 2: "env.PORT" must be a string'],
    [
      "egress:\n  routes:\n    - host: a.example.com\n      matches: [{paths: [{type: regex, value: '('}]}]",
      'line 5: in "egress", "routes.0.matches.0" has a pattern that does not compile',
    ],
    ["git:\n  repos:\n    app:\n      url: ftp://x/y", 'line 5: "git.repos.app.url" is not valid'],
    ["git:\n  repos:\n    app: {secret: x}", 'unknown key "secret" in "git.repos.app"; allowed are url, host_key'],
    [
      "egress:\n  routes:\n    - host: a.example.com\n      auth:\n        scheme: Bearer\n        tokenref: X",
      'line 7: unknown key "tokenref" in "egress.routes.0.auth"; allowed are scheme, token_ref',
    ],
    ["limits: {memory: 1}", 'unknown key "memory" in "limits"; allowed are vcpu_count, mem_mib'],
    ["agent_provider: {auth_token: X}", '"agent_provider.template" is missing'],
    ["extends: [dev, 'No Name']", '"No Name" is no name'],
  ])("refuses a bottle with %j", (text, message) => {
    write("home/bottles/bad.md", `---\n${text}\n---\n`);
    expect(() => files().bottle("bad")).toThrow(message);
  });

  it("lists what has a name, broken or not, and a broken one stops only what asks for it", () => {
    write("home/bottles/dev.md", "---\n---\n");
    write("home/bottles/torn.md", "---\nenv: [\n---\n");
    write("home/bottles/Not_A_Name.md", "---\n---\n");
    write("home/bottles/notes.txt", "");
    expect(
      files()
        .bottles()
        .map(({ name }) => name),
    ).toEqual(["dev", "torn"]);
    expect(files().bottle("dev")).toEqual({});
    expect(() => files().bottle("torn")).toThrow("line 2");
    const hint = "`cloche edit bottles/torn` opens it and checks it again";
    expect(() => files().bottle("torn")).toThrow(expect.objectContaining({ hint }) as Error);
  });

  it.each(["../dev", "", ".", "Dev", "dev.md", "a/b", "a\0b", "x".repeat(59)])(
    "finds nothing under the name %j",
    (name) => {
      write("home/bottles/dev.md", "---\n---\n");
      write("home/dev.md", "---\n---\n");
      expect(() => files().bottle(name)).toThrow("There is no bottle");
      expect(() => files().agent(name)).toThrow("There is no agent");
    },
  );

  it("G-60: never reads a bottle of the project, and says that it is ignored", () => {
    write("project/.cloche/bottles/theirs.md", "---\negress: {routes: [{host: evil.example.com}]}\n---\n");
    write("project/.cloche/bottles/dev.md", "---\negress: {routes: [{host: evil.example.com}]}\n---\n");
    write("home/bottles/dev.md", "---\n---\n");
    expect(files().bottle("dev")).toEqual({});
    expect(() => files().bottle("theirs")).toThrow("There is no bottle");
    expect(
      files()
        .bottles()
        .map(({ name }) => name),
    ).toEqual(["dev"]);
    expect(files().notes()).toEqual([expect.stringContaining("a project cannot bring bottles") as string]);
  });

  it("takes the agent of the home before the project's of the same name, and says so", () => {
    write("home/agents/demo.md", "---\nbottle: mine\n---\n");
    write("project/.cloche/agents/demo.md", "---\nbottle: theirs\n---\n");
    write("project/.cloche/agents/other.md", "---\nbottle: theirs\n---\n");
    expect(files().agent("demo")).toMatchObject({ source: "home", definition: { bottle: "mine" } });
    expect(files().notes("demo")).toEqual([expect.stringContaining("the project has one of the same name") as string]);
    expect(files().notes("other")).toEqual([]);
    expect(files().agents()).toMatchObject([
      { name: "demo", source: "home" },
      { name: "other", source: "project" },
    ]);
  });

  it("takes the home for the home when the user stands in the folder that has it", () => {
    project = root;
    home = join(root, ".cloche");
    write(".cloche/bottles/dev.md", "---\n---\n");
    write(".cloche/agents/demo.md", "---\nbottle: dev\n---\n");
    expect(files().agent("demo").source).toBe("home");
    expect(files().notes("demo")).toEqual([]);
  });

  it("G-61: follows no link of a project out of it, and waits for no pipe", () => {
    write("secret.md", "---\nbottle: dev\n---\nthe user's own text\n");
    mkdirSync(join(project, ".cloche/agents"), { recursive: true });
    symlinkSync(join(root, "secret.md"), join(project, ".cloche/agents/leak.md"));
    expect(() => files().agent("leak")).toThrow("leads out of the project");
    rmSync(join(project, ".cloche"), { recursive: true });
    mkdirSync(join(root, "elsewhere/agents"), { recursive: true });
    write("elsewhere/agents/leak.md", "---\nbottle: dev\n---\nthe user's own text\n");
    symlinkSync(join(root, "elsewhere"), join(project, ".cloche"));
    expect(() => files().agent("leak")).toThrow("leads out of the project");
    write("home/agents/device.md", "");
    rmSync(join(home, "agents/device.md"));
    symlinkSync("/dev/zero", join(home, "agents/device.md"));
    expect(() => files().agent("device")).toThrow("no ordinary file");
  });
});
