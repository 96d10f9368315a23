import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestProxy, routeFor } from "../../../test/helpers/egress-proxy.ts";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { processesNaming } from "../../../test/helpers/installation.ts";
import { folderHolds } from "../../../test/helpers/sandbox-search.ts";
import type { GateRepo, GitOrder, WebPlace } from "../../model/git-order.ts";
import { gitRoutes, webPlaceOf } from "../../policy/git/web-place.ts";
import { blobOf, packOf } from "../../parity/git-objects.ts";
import { createDetector } from "../../policy/dlp/create-detector.ts";
import { type GitCall, HostGit, type RunningGit } from "./host-git.ts";
import { type Mirror, packsFirst } from "./mirror.ts";
import { lookAtPack } from "./pushed-objects.ts";
import { PackRefused, Quarantine } from "./quarantine.ts";
import { Upstream } from "./upstream.ts";

let bed: GitDoorBed;

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Whatever it is to do, it is killed before it has printed anything. */
class EndedGit extends HostGit {
  override start(_words: readonly string[], call: GitCall): RunningGit {
    return super.start(["-c", "alias.ends=!kill -KILL $$", "ends"], call);
  }
}

describe("git on the host", () => {
  const before = { ...process.env };

  beforeEach(async () => {
    bed = await GitDoorBed.start();
  });
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  });

  it("G-84 runs nothing that a repository, the user or a variable has set up", async () => {
    const mark = join(bed.folder, "ran");
    const script = join(bed.folder, "hook");
    writeFileSync(script, `#!/bin/sh\ntouch ${mark}\n`);
    chmodSync(script, 0o755);
    writeFileSync(
      join(bed.folder, ".gitconfig"),
      `[core]\n\thooksPath = ${bed.folder}/hooks\n\tsshCommand = ${script}\n\tfsmonitor = ${script}\n[credential]\n\thelper = !${script}\n[uploadpack]\n\tpackObjectsHook = ${script}\n[url "ext::${script} "]\n\tinsteadOf = http:\n`,
    );
    Object.assign(process.env, {
      HOME: bed.folder,
      GIT_CONFIG_GLOBAL: join(bed.folder, ".gitconfig"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "protocol.ext.allow",
      GIT_CONFIG_VALUE_0: "always",
      GIT_TRACE: mark,
      GIT_EXTERNAL_DIFF: script,
    });
    const folder = await bed.clone();
    const hooks = join(bed.mirror("app"), "hooks");
    for (const path of [hooks, join(bed.folder, "hooks")]) {
      mkdirSync(path, { recursive: true });
      for (const name of [
        "reference-transaction",
        "pre-push",
        "post-index-change",
        "pre-auto-gc",
        "update",
        "pre-receive",
      ]) {
        writeFileSync(join(path, name), `#!/bin/sh\ntouch ${mark}\n`);
        chmodSync(join(path, name), 0o755);
      }
    }
    writeFileSync(
      join(bed.mirror("app"), "config"),
      `[core]\n\tbare = true\n\thooksPath = ${hooks}\n[credential]\n\thelper = !${script}\n`,
    );
    await bed.commit(folder, { mine: "1\n" });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/x");
    await bed.must(folder, "fetch", "-q");
    // An upstream that asks for a credential, and a URL that is turned into another protocol's.
    bed.web.onRequest = (line) => (bed.web.wanted = line.includes("receive-pack") ? "Basic none" : undefined);
    expect(await bed.git(folder, "push", "origin", "HEAD:agent/y")).toMatchObject({ code: 1 });
    bed.web.onRequest = undefined;
    bed.web.wanted = undefined;
    const turned = `[url "ext::${script} "]\n\tinsteadOf = http:\n`;
    writeFileSync(join(bed.mirror("app"), "config"), `[core]\n\tbare = true\n${turned}`);
    expect(await bed.git(folder, "push", "origin", "HEAD:agent/z")).toMatchObject({ code: 1 });
    expect(existsSync(mark)).toBe(false);
  });

  it("G-83 has the credential in no argument while it speaks to the upstream, and in no file", async () => {
    const authorization = `Basic ${randomBytes(20).toString("hex")}`;
    const held: string[][] = [];
    bed.web.wanted = authorization;
    bed.web.onRequest = () => held.push(processesNaming(authorization.slice(6)));
    const url = `${bed.web.url}/app.git`;
    bed.obey({ repos: { app: { way: { kind: "http", url, authorization, token_name: "TOKEN", ca: null } } } });
    const folder = await bed.clone();
    await bed.commit(folder, { mine: "1\n" });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/x");
    expect(bed.web.seen.some((one) => one.line.startsWith("POST") && one.authorization === authorization)).toBe(true);
    expect(held.length).toBeGreaterThan(4);
    expect(held.flat()).toEqual([]);
    expect(folderHolds(bed.folder, authorization.slice(6))).toBe(false);
  });

  it("G-87 has no more memory than its share, and leaves no core", async () => {
    const words = ["-c", "alias.limits=!ulimit -v; ulimit -c; echo $GIT_ALLOC_LIMIT", "limits"];
    const { stdout } = await new HostGit().run(words, { repository: null });
    expect(stdout.toString()).toBe(`${4 * 1024 * 1024}\n0\n1g\n`);
  });

  it("G-87 is ended when it prints more than there is room for, also over a program", async () => {
    const much = ["-c", "alias.much=!head -c 70000000 /dev/zero", "much"];
    const git = new HostGit();
    const { code, stdout } = await git.run(much, { repository: null });
    expect([code, stdout.length <= 64 * 1024 * 1024]).toEqual([null, true]);
    const way = { kind: "program", fetch_place: 1, push_place: 2, fingerprint: null } as const;
    const upstream = new Upstream(git, { name: "app", way, shown: "x" } as GateRepo, {} as GitOrder, () =>
      Promise.resolve({ talk: new PassThrough(), said: new PassThrough() }),
    );
    const over = await upstream.run("fetch", () => much, { repository: null });
    expect([over.code, over.stdout.length <= 64 * 1024 * 1024]).toEqual([null, true]);
  });

  it("G-87 is ended when it takes too long, with what it has begun", async () => {
    const mark = `sleep ${3000 + Math.floor(Math.random() * 1000)}.${process.pid}`;
    const { code } = await new HostGit(300).run(["-c", `alias.long=!${mark}`, "long"], { repository: null });
    expect(code).toBeNull();
    await expect.poll(() => processesNaming(mark)).toEqual([]);
  });

  it("G-87 takes no more of a pack than its bound while it comes in, and no object of it is kept", async () => {
    await bed.clone();
    const quarantine = new Quarantine(
      new HostGit(),
      { path: bed.mirror("app") } as Mirror,
      join(bed.folder, "q"),
      100_000,
    );
    const pack = packOf([blobOf(randomBytes(300_000))]);
    const parts = Array.from({ length: 31 }, (_, at) => pack.subarray(at * 10_000, (at + 1) * 10_000));
    let taken = 0;
    const counted = function* () {
      for (const part of parts) {
        taken += part.length;
        yield part;
      }
    };
    const unpacked = quarantine.unpack(
      Buffer.alloc(0),
      Readable.from(counted(), { highWaterMark: 1 }),
      AbortSignal.any([]),
    );
    await expect(unpacked).rejects.toThrow("it is larger than 100000 bytes");
    expect(taken).toBeLessThan(200_000);
    await quarantine.remove();
    expect(readdirSync(join(bed.folder, "q"))).toEqual([]);
  });

  it("moves a pack into a mirror before the index by which it is found", () => {
    const names = ["pack-b.idx", "pack-a.idx", "pack-b.pack", "pack-a.rev", "pack-a.pack", "pack-b.rev"];
    for (let turn = 0; turn < names.length; turn++) {
      names.push(names.shift() ?? "");
      expect(packsFirst(names).map((name) => name.endsWith(".idx"))).toEqual([false, false, false, false, true, true]);
    }
  });

  it("G-89 is not taken to have read all when it was ended before its end", async () => {
    await bed.clone();
    const quarantine = new Quarantine(new HostGit(), { path: bed.mirror("app") } as Mirror, join(bed.folder, "q"));
    await quarantine.unpack(packOf([blobOf("x\n")]), Readable.from([]), new AbortController().signal);
    const looking = {
      scan: createDetector({ known: [] }).scope(),
      allowed: new Set<string>(),
      identity: null,
      maxFileBytes: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    };
    await expect(lookAtPack(new EndedGit(), quarantine, looking)).rejects.toThrow(PackRefused);
  });

  it("G-85 serves nothing while the upstream does not answer, unless the bottle allows what is old", async () => {
    const folder = await bed.clone();
    const away = {
      kind: "http",
      url: "http://127.0.0.1:9/app.git",
      authorization: null,
      token_name: null,
      ca: null,
    } as const;
    bed.obey({ repos: { app: { way: away } } });
    const { code, out } = await bed.git(folder, "fetch");
    expect(code).not.toBe(0);
    expect(out).toContain(
      "remote: cloche: the upstream does not answer, and nothing old is served: upstream:80 cannot be reached",
    );
    expect((await bed.git(folder, "push", "origin", "HEAD:agent/x")).code).not.toBe(0);
    bed.obey({ repos: { app: { way: away, allow_stale: true } } });
    await bed.must(folder, "fetch");
  });
});

describe("a push through the egress door", () => {
  it("G-92 to an upstream of the bottle is refused, and is told where the gate is", async () => {
    bed = await GitDoorBed.start();
    const away = { connect: "127.0.0.1:9" };
    await using proxy = new TestProxy({ routes: [routeFor("upstream.test", away), routeFor("other.test", away)] });
    proxy.gate.gitDoors = (host) => bed.gate.doorsFor(host);
    await proxy.listen();
    const ask = async (url: string) => (await proxy.plain(url)).text;
    const refused = "go through the git gate: app at http://127.0.0.1:9418/app";
    expect(await ask("http://upstream.test/app.git/info/refs?service=git-receive-pack")).toContain(refused);
    for (const path of ["git-receive-pack", "git%2dreceive-pack", "git-receive-pack;x", "git-receive-pack/"])
      expect(await ask(`http://upstream.test/app.git/${path}`), path).toContain(refused);
    expect(await ask("http://upstream.test/app.git/info/refs?service=git-receive%2Dpack&x=1")).toContain(refused);
    expect(await ask("http://upstream.test/docs/git-receive-pack.html")).not.toContain("git gate");
    expect(await ask("http://upstream.test/app.git/info/refs?service=git-upload-pack")).not.toContain("git gate");
    expect(await ask("http://other.test/app.git/git-receive-pack")).not.toContain("git gate");
    // Where TLS is passed through nobody could look: for such a host it is not.
    proxy.obey({ routes: [routeFor("upstream.test", { ...away, tls: "passthrough" })] });
    expect((await proxy.ask("https://upstream.test/app.git/git-receive-pack", { body: "" })).text).toContain(refused);
  });

  it("is told so by git itself, and one that is nowhere declared with the list of those that are", async () => {
    bed = await GitDoorBed.start({ repos: { app: {}, docs: {} } });
    const routes = [routeFor("upstream.test", { connect: "127.0.0.1:9", matches: [] })];
    await using proxy = new TestProxy({ routes });
    proxy.gate.gitDoors = (host) => bed.gate.doorsFor(host);
    await proxy.listen();
    const ca = join(bed.folder, "ca.pem");
    writeFileSync(ca, proxy.gate.keys.certificate);
    const through = ["-c", `http.proxy=http://127.0.0.1:${proxy.port}`, "-c", `http.sslCAInfo=${ca}`];
    const folder = await bed.clone();
    const doors = "app at http://127.0.0.1:9418/app, docs at http://127.0.0.1:9418/docs";
    for (const words of [["ls-remote"], ["push"]]) {
      const { out } = await bed.git(folder, ...through, ...words, "https://upstream.test/team/x.git");
      expect(out).toContain(
        `remote: cloche: The bottle has no such repository at upstream.test; declared are: ${doors}`,
      );
      expect(out).toContain("remote: hint: Use one of those");
    }
    proxy.obey({ routes: [routeFor("upstream.test", { connect: "127.0.0.1:9" })] });
    const { out } = await bed.git(folder, ...through, "push", "https://upstream.test/team/x.git", "HEAD:main");
    expect(out).toContain(`remote: cloche: Pushes to upstream.test go through the git gate: ${doors}`);
    const plain = await proxy.ask("https://upstream.test/team/x.git/git-receive-pack", { body: "" });
    expect(JSON.parse(plain.text)).toMatchObject({ error: { code: "EGRESS_DENIED" } });
  });
});

describe("a tool that knows nothing of the git door", () => {
  const order = (web: WebPlace) => ({ repos: [{ web }] }) as unknown as GitOrder;

  it("G-117 finds a repository of the bottle at the host that it knows, behind the same checks, and nothing else there", async () => {
    bed = await GitDoorBed.start({ repos: { app: { rules: { branches: ["agent/*"] } } } });
    const web = { host: "upstream.test", ports: [443, 80], path: "team/app" };
    await using proxy = new TestProxy({ routes: gitRoutes(order(web)) });
    proxy.gate.gitDoors = (host) => bed.gate.doorsFor(host);
    proxy.gate.serveGit = (...asked) => bed.gate.serveAtHost(...asked);
    await proxy.listen();
    const ca = join(bed.folder, "ca.pem");
    writeFileSync(ca, proxy.gate.keys.certificate);
    const through = ["-c", `http.proxy=http://127.0.0.1:${proxy.port}`, "-c", `http.sslCAInfo=${ca}`];
    for (const url of ["https://upstream.test/team/app.git", "http://upstream.test/team/app"]) {
      const folder = join(bed.folder, url.slice(0, 5));
      await bed.must(bed.folder, ...through, "clone", "-q", url, folder);
      const id = await bed.commit(folder, { mine: url });
      await bed.must(folder, ...through, "push", "-q", "origin", `HEAD:agent/${url.length}`);
      expect(bed.refs()[`refs/heads/agent/${url.length}`]).toBe(id);
      const { code, out } = await bed.git(folder, ...through, "push", "origin", "HEAD:main");
      expect([code, out]).toEqual([1, expect.stringContaining("the branch main is denied")]);
    }
    for (const path of ["/team/other.git/info/refs?service=git-upload-pack", "/team/app-two/git-receive-pack", "/"]) {
      const { status, text } = await proxy.ask(`https://upstream.test${path}`);
      expect([status, text], path).toEqual([403, expect.stringMatching(/EGRESS_DENIED/)]);
    }
  });

  it("finds an upstream that is reached over ssh at the web's ports, and a file nowhere", () => {
    expect(webPlaceOf("git@git.example.com:team/app.git")).toEqual({
      host: "git.example.com",
      ports: [443, 80],
      path: "team/app",
    });
    expect(webPlaceOf("https://git.example.com:8443/app")?.ports).toEqual([8443, 443, 80]);
    expect(webPlaceOf("file:///srv/app.git")).toBeNull();
    for (const url of ["http://127.0.0.1:3000/app", "https://[::1]/app"])
      expect(gitRoutes(order(webPlaceOf(url) as WebPlace))).toEqual([]);
  });
});
