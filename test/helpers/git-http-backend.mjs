import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import process from "node:process";
import { URL } from "node:url";

/**
 * Answers a request with `git http-backend`, as a web server does that has git behind it. Plain JavaScript, because the measurements run it without a build.
 *
 * @param {string} folder that has the repositories
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
export function answerWithHttpBackend(folder, request, response) {
  const url = new URL(request.url ?? "", "http://localhost");
  const header = (/** @type {string} */ name) => String(request.headers[name] ?? "");
  const length = request.headers["content-length"];
  const cgi = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: header("content-type"),
      REMOTE_ADDR: "127.0.0.1",
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
      ...(length !== undefined && { CONTENT_LENGTH: length }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  cgi.stdin.on("error", () => undefined);
  request.pipe(cgi.stdin);
  let head = Buffer.alloc(0);
  let isOpen = false;
  cgi.stdout.on("data", (/** @type {Buffer} */ chunk) => {
    if (isOpen) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    isOpen = true;
    for (const line of head.subarray(0, end).toString().split("\r\n")) {
      const [name = "", value = ""] = line.split(": ", 2);
      if (name === "Status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  cgi.once("close", () => response.end());
}
