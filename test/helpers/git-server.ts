import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { answerWithHttpBackend } from "./git-http-backend.mjs";

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
  /** Called while a request is under way. */
  onRequest: ((line: string) => void) | undefined;
}

/** Serves every repository of a folder with `git http-backend`. */
export async function serveWithHttpBackend(folder: string): Promise<GitWebServer> {
  const seen: GitWebServer["seen"] = [];
  const state: Pick<GitWebServer, "wanted" | "onRequest"> = { wanted: undefined, onRequest: undefined };
  const server: Server = createServer((request, response) => {
    const { authorization } = request.headers;
    const line = `${request.method ?? ""} ${request.url ?? ""}`;
    state.onRequest?.(line);
    seen.push({ line, authorization });
    if (state.wanted !== undefined && authorization !== state.wanted) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      request.resume();
      return;
    }
    answerWithHttpBackend(folder, request, response);
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
    get onRequest() {
      return state.onRequest;
    },
    set onRequest(value) {
      state.onRequest = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
