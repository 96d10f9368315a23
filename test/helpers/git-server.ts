import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** Git without anything of this host's configuration. */
export const QUIET_GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Host",
  GIT_AUTHOR_EMAIL: "host@example.com",
  GIT_COMMITTER_NAME: "Host",
  GIT_COMMITTER_EMAIL: "host@example.com",
};

/** Runs git to its end; throws with what it said. */
export function hostGit(folder: string, words: readonly string[], input?: string): string {
  const env = { PATH: process.env["PATH"] ?? "", ...QUIET_GIT };
  return execFileSync("git", ["-C", folder, ...words], {
    encoding: "utf8",
    env,
    input,
    stdio: ["pipe", "pipe", "pipe"],
  }).trim();
}

/** A bare repository with one commit on `main`. */
export function makeUpstream(folder: string, name: string): string {
  const path = join(folder, `${name}.git`);
  mkdirSync(path, { recursive: true });
  hostGit(path, ["init", "-q", "--bare", "-b", "main"]);
  hostGit(path, ["config", "http.receivepack", "true"]);
  hostGit(path, ["config", "receive.advertisePushOptions", "true"]);
  const blob = hostGit(path, ["hash-object", "-w", "--stdin"], `# ${name}\n`);
  const tree = hostGit(path, ["mktree"], `100644 blob ${blob}\tREADME.md\n`);
  hostGit(path, ["update-ref", "refs/heads/main", hostGit(path, ["commit-tree", "-m", `first of ${name}`, tree])]);
  return path;
}

export const refsOf = (path: string): Record<string, string> =>
  Object.fromEntries(
    hostGit(path, ["for-each-ref", "--format=%(refname) %(objectname)"])
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ") as [string, string]),
  );

export interface GitWebServer extends AsyncDisposable {
  readonly url: string;
  /** Each request as `METHOD PATH`, and the `Authorization` it came with. */
  readonly seen: { readonly line: string; readonly authorization: string | undefined }[];
  /** From now on, who has not this value of `Authorization` is sent away. */
  wanted: string | undefined;
}

/** Serves every repository of a folder with `git http-backend`. */
export async function serveWithHttpBackend(folder: string): Promise<GitWebServer> {
  const seen: GitWebServer["seen"] = [];
  const state: { wanted: string | undefined } = { wanted: undefined };
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const { authorization } = request.headers;
    seen.push({ line: `${request.method ?? ""} ${request.url ?? ""}`, authorization });
    if (state.wanted !== undefined && authorization !== state.wanted) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      request.resume();
      return;
    }
    const header = (name: string) => String(request.headers[name] ?? "");
    const cgi = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"],
        ...QUIET_GIT,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: header("content-type"),
        REMOTE_ADDR: "127.0.0.1",
        HTTP_CONTENT_ENCODING: header("content-encoding"),
        GIT_PROTOCOL: header("git-protocol"),
        ...(request.headers["content-length"] !== undefined && { CONTENT_LENGTH: request.headers["content-length"] }),
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    cgi.stdin.on("error", () => undefined);
    request.pipe(cgi.stdin);
    let head: Buffer = Buffer.alloc(0);
    let isOpen = false;
    cgi.stdout.on("data", (chunk: Buffer) => {
      if (isOpen) {
        response.write(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      isOpen = true;
      const headers = Object.fromEntries(
        head
          .subarray(0, end)
          .toString()
          .split("\r\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      response.writeHead(Number.parseInt(headers["Status"] ?? "200", 10), headers);
      response.write(head.subarray(end + 4));
    });
    cgi.once("close", () => response.end());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get wanted() {
      return state.wanted;
    },
    set wanted(value) {
      state.wanted = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
