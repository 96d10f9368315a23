import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MinimalRoot } from "../helpers/minimal-root.ts";
import { PackedPackage } from "../helpers/packed-package.ts";

let packed: PackedPackage;
let root: MinimalRoot;

/** What a user types, in the folder into which the package was installed. */
const type = (script: string) => root.run(`cd /root/app; ${script}; node_modules/.bin/cloche daemon stop >/dev/null`);

beforeAll(async () => {
  [packed, root] = await Promise.all([PackedPackage.make(), MinimalRoot.make()]);
});
afterAll(async () => {
  await root[Symbol.asyncDispose]();
  await packed[Symbol.asyncDispose]();
});

describe("the package", () => {
  it("has the guest program for every processor with its hash, and nothing that only builds or tests need", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith("build/")).sort()).toEqual([
      "build/guest/arm64/SHA256SUMS",
      "build/guest/arm64/cloche-guest",
      "build/guest/arm64/gate-process.so",
      "build/guest/x64/SHA256SUMS",
      "build/guest/x64/cloche-guest",
      "build/guest/x64/gate-process.so",
      "build/guest/x64/private-memory.so",
    ]);
    const programs = packed.files.filter(({ path }) => path.endsWith("/cloche-guest"));
    expect(programs.map(({ mode }) => mode.toString(8))).toEqual(["755", "755"]);
    expect(
      paths.filter((path) => /^(src|test|node_modules|bench)\/|\.test\.|tsbuildinfo|\/\.built/.test(path)),
    ).toEqual([]);
  });

  it("installs into an empty folder where nothing can be compiled, without running a script", async () => {
    copyFileSync(packed.archive, root.path("/root/cloche.tgz"));
    const tools = await root.run("for name in cc gcc clang make bwrap; do command -v $name || :; done");
    expect(tools).toMatchObject({ code: 0, stdout: "" });
    const { code, stderr } = await root.run(
      "mkdir /root/app; cd /root/app; npm install --ignore-scripts --no-audit --no-fund ../cloche.tgz",
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it("runs a command, and needs no other program for it", async () => {
    const { stdout, stderr } = await type(`npx cloche run -- true; echo $?
      npx cloche run -- sh -c 'id -un; cat /proc/1/comm; exit 7' || echo $?
      npx cloche doctor --json`);
    expect(stderr).toBe("");
    const [zero, user, first, seven, ...health] = stdout.split("\n");
    expect([zero, user, first, seven]).toEqual(["0", "agent", "cloche-guest", "7"]);
    expect(JSON.parse(health.join("\n"))).toMatchObject({ healthy: true, default_backend: "container" });
  });

  it("runs where its files are for their owner alone", async () => {
    const { stdout, stderr } = await type("chmod -R go= /root/app; npx cloche run -- echo inside");
    expect({ stdout, stderr }).toEqual({ stdout: "inside\n", stderr: "" });
  });

  it("is there for programs too", async () => {
    const program = `import { Cloche } from "cloche";
      const cloche = new Cloche();
      console.log((await cloche.run({ command: "echo inside" })).stdout);
      await cloche.close();`;
    writeFileSync(root.path("/root/app/program.mjs"), program);
    expect((await type("node program.mjs")).stdout).toBe("inside\n\n");
  });

  it("runs no guest program but the one that was built", async () => {
    const path = root.path(`/root/app/node_modules/cloche/build/guest/${process.arch}/cloche-guest`);
    const whole = readFileSync(path);
    const damaged = Buffer.from(whole);
    damaged.write("damaged", damaged.length >> 1);
    writeFileSync(path, damaged);
    const { stdout, stderr } = await type("npx cloche run -- true || echo $?");
    expect(stdout).toBe("125\n");
    expect(stderr).toMatch(/^error: .*cloche-guest" is damaged.*\nhint: Install the package again/);
    rmSync(path);
    expect((await type("npx cloche run -- true || :")).stderr).toMatch(/^error: .*cloche-guest".* is missing\nhint: /);
    writeFileSync(path, whole, { mode: 0o755 });
    expect((await type("npx cloche run -- echo again")).stdout).toBe("again\n");
  });
});
