import { mkdtempSync, rmSync } from "node:fs";
import { type RequestListener, type Server, createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineClient } from "./engine-client.ts";
import { DockerEngine } from "./engine.ts";

/** Stands in for engines that misbehave; a real one is in `test/e2e/docker.test.ts`. */
let folder: string;
let server: Server | undefined;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cl-engine-"))));
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
  rmSync(folder, { recursive: true });
});

const endpoint = () => {
  const socketPath = join(folder, "s");
  return { address: `unix://${socketPath}`, source: "the test", socketPath };
};

async function engineThat(answer: RequestListener, version = "1.41"): Promise<EngineClient> {
  server = createServer((request, response) => {
    if (request.url === "/_ping") {
      response.setHeader("api-version", version);
      response.end("OK");
    } else answer(request, response);
  });
  await new Promise<void>((done) => server?.listen(endpoint().socketPath, done));
  return new EngineClient(endpoint());
}

describe("EngineClient", () => {
  it("says that nobody answers, and that whoever answers is no engine", async () => {
    const client = new EngineClient(endpoint());
    await expect(client.call("GET", "/info")).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringContaining("No Docker engine answers") as string,
      hint: expect.stringContaining("systemctl start docker") as string,
    });
    const web = await engineThat((_, response) => response.end("<html>"), "hello");
    await expect(web.call("GET", "/info")).rejects.toThrow(/is no Docker engine/);
  });

  it("asks for the version once it answers, and refuses one that is too old", async () => {
    const paths: (string | undefined)[] = [];
    const client = await engineThat(({ url }, response) => {
      paths.push(url);
      response.end("{}");
    });
    await client.call("GET", "/info");
    await client.call("GET", "/images/json", { query: { all: true, gone: undefined, name: "a b" } });
    expect(paths).toEqual(["/v1.41/info", "/v1.41/images/json?all=true&name=a%20b"]);
    server?.close();
    rmSync(endpoint().socketPath, { force: true });
    const old = await engineThat(() => undefined, "1.24");
    await expect(old.call("GET", "/info")).rejects.toThrow(/too old/);
  });

  it("tells a refusal in the engine's words, JSON or not", async () => {
    const client = await engineThat(({ url }, response) => {
      response.statusCode = 409;
      response.end(url?.endsWith("json") ? '{"message":"in use"}' : "plain words");
    });
    await expect(client.call("GET", "/json")).rejects.toMatchObject({ status: 409, message: "in use" });
    await expect(client.call("GET", "/text")).rejects.toMatchObject({ status: 409, message: "plain words" });
  });

  it("tells that the engine went away in the middle of an answer", async () => {
    const client = await engineThat((request, response) => {
      response.write('{"half":');
      setImmediate(() => request.socket.destroy());
    });
    await expect(client.call("GET", "/info")).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringContaining("went away") as string,
    });
  });

  it("gives up on an engine that does not answer, and stops when it is told to", async () => {
    const client = await engineThat(() => undefined);
    await expect(client.call("GET", "/info", { timeoutMs: 50 })).rejects.toThrow(/did not answer within 50 ms/);
    const stop = new AbortController();
    const call = client.call("GET", "/info", { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(client.call("GET", "/info", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  it("takes the failure of an import from its last line, although the status says that all is well", async () => {
    await engineThat((request, response) => {
      request.resume().once("end", () => response.end('{"status":"Importing"}\n{"error":"no space left on device"}\n'));
    });
    const engine = new DockerEngine(endpoint());
    const image = { repository: "r", tag: "t", labels: {} };
    await expect(engine.importImage(Readable.from(["tar"]), image, undefined)).rejects.toThrow("no space left");
  });

  it("fails an import whose tar breaks off", async () => {
    await engineThat((request) => void request.resume().on("error", () => undefined));
    const tar = new Readable({ read: () => undefined });
    const result = new DockerEngine(endpoint()).importImage(tar, { repository: "r", tag: "t", labels: {} }, undefined);
    setTimeout(() => tar.destroy(new Error("cut off")), 20);
    await expect(result).rejects.toThrow(/cut off/);
  });

  it("waits for a container that somebody else removes at this moment", async () => {
    const asked: string[] = [];
    await engineThat(({ method, url }, response) => {
      asked.push(`${method ?? ""} ${url ?? ""}`);
      response.statusCode = method === "DELETE" ? 409 : 200;
      response.end(method === "DELETE" ? '{"message":"removal is already in progress"}' : '{"StatusCode":0}');
    });
    await new DockerEngine(endpoint()).removeContainer("one");
    expect(asked).toEqual([
      "DELETE /v1.41/containers/one?force=true&v=true",
      "POST /v1.41/containers/one/wait?condition=removed",
    ]);
  });
});
