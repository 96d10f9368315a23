import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** A registry of npm with one real package in it: what this checkout has of it, packed. */
export class PackageRegistry {
  readonly name: string;
  readonly #host: string;
  readonly #manifest: { version: string };
  readonly #tarball: Buffer;

  constructor(host: string, name: string) {
    this.#host = host;
    this.name = name;
    this.#manifest = JSON.parse(readFileSync(`${MODULES}/${name}/package.json`, "utf8")) as { version: string };
    const options = { maxBuffer: 64 * 1024 * 1024 };
    this.#tarball = execFileSync(
      "tar",
      ["-cz", "-C", `${MODULES}/${name}`, "--transform", "s,^\\.,package,", "."],
      options,
    );
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { version } = this.#manifest;
    const path = `/${this.name}/-/${this.name}-${version}.tgz`;
    if (request.url === path) {
      response.end(this.#tarball);
      return;
    }
    const integrity = `sha512-${createHash("sha512").update(this.#tarball).digest("base64")}`;
    const dist = { tarball: `https://${this.#host}${path}`, integrity };
    const found = request.url === `/${this.name}`;
    const document = {
      name: this.name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...this.#manifest, dist } },
    };
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(found ? document : {}));
  }
}

/** Repositories over HTTP, served by git itself. */
export class GitServer {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** One with a commit in it, which has this file. */
  make(name: string, file: string, text: string): void {
    const work = `${this.#root}/work-${name}`;
    mkdirSync(work, { recursive: true });
    writeFileSync(`${work}/${file}`, text);
    const git = (...words: string[]) =>
      execFileSync("git", ["-C", work, "-c", "user.name=a", "-c", "user.email=a@b", ...words]);
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "first");
    execFileSync("git", ["clone", "-q", "--bare", work, `${this.#root}/${name}`]);
  }

  async answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { pathname, search } = new URL(request.url ?? "", "https://git.test");
    const backend = spawn("git", ["http-backend"], {
      env: {
        ...process.env,
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    backend.stdin.on("error", () => undefined).end(body);
    const all = await buffer(backend.stdout);
    const end = all.indexOf("\r\n\r\n");
    const headers = all
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": ", 2) as [string, string]);
    const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
    response.writeHead(parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== "Status")));
    response.end(all.subarray(end + 4));
  }
}
