import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findEndpoint, parseAddress } from "./endpoint.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cl-docker-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const hash = (name: string) => createHash("sha256").update(name).digest("hex");
const configure = (value: unknown) => writeFileSync(join(folder, "config.json"), JSON.stringify(value));

function addContext(name: string, host: string, pem?: string): void {
  const meta = join(folder, "contexts/meta", hash(name));
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, "meta.json"), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
  if (pem === undefined) return;
  const tls = join(folder, "contexts/tls", hash(name), "docker");
  mkdirSync(tls, { recursive: true });
  for (const file of ["ca.pem", "cert.pem", "key.pem"]) writeFileSync(join(tls, file), `${pem} ${file}`);
}

const find = (env: Record<string, string> = {}) => findEndpoint({ DOCKER_CONFIG: folder, ...env });

describe("findEndpoint()", () => {
  it("takes the usual socket when nothing says otherwise", () => {
    expect(find()).toMatchObject({ address: "unix:///var/run/docker.sock", socketPath: "/var/run/docker.sock" });
  });

  it("takes the current context, DOCKER_CONTEXT before it, and DOCKER_HOST before both", () => {
    addContext("one", "unix:///one.sock");
    addContext("two", "unix:///two.sock");
    configure({ currentContext: "one" });
    expect(find()).toMatchObject({ socketPath: "/one.sock", source: 'context "one"' });
    expect(find({ DOCKER_CONTEXT: "two" })).toMatchObject({ socketPath: "/two.sock" });
    expect(find({ DOCKER_CONTEXT: "default" })).toMatchObject({ socketPath: "/var/run/docker.sock" });
    expect(find({ DOCKER_CONTEXT: "two", DOCKER_HOST: "unix:///three.sock" })).toMatchObject({
      socketPath: "/three.sock",
      source: "DOCKER_HOST",
    });
  });

  it("takes an empty variable for one that is not set", () => {
    expect(find({ DOCKER_HOST: "", DOCKER_CONTEXT: "" })).toMatchObject({ socketPath: "/var/run/docker.sock" });
  });

  it.each([
    ["tcp://127.0.0.1:4243", { host: "127.0.0.1", port: 4243 }],
    ["tcp://engine.example.com", { host: "engine.example.com", port: 2375 }],
    ["tcp://[::1]:2375", { host: "::1", port: 2375 }],
    ["https://engine.example.com", { host: "engine.example.com", port: 2376 }],
  ])("reads %s", (address, expected) => {
    expect(find({ DOCKER_HOST: address })).toMatchObject(expected);
  });

  it("takes certificates as the docker command does, from DOCKER_CERT_PATH or from the context", () => {
    for (const file of ["ca.pem", "cert.pem", "key.pem"]) writeFileSync(join(folder, file), `env ${file}`);
    const fromEnv = find({ DOCKER_HOST: "tcp://h", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: folder });
    expect(fromEnv).toMatchObject({ port: 2376, tls: { verify: true } });
    expect(fromEnv.tls?.cert?.toString()).toBe("env cert.pem");
    addContext("far", "tcp://far.example.com:2376", "context");
    expect(find({ DOCKER_CONTEXT: "far" }).tls?.key?.toString()).toBe("context key.pem");
  });

  it.each([
    ["ssh://me@engine.example.com", /Cannot reach a Docker engine at "ssh:/],
    ["npipe:////./pipe/docker", /Cannot reach/],
    ["unix://relative.sock", /Cannot reach/],
    ["nonsense", /Cannot reach/],
  ])("refuses %s and says what to use", (address, message) => {
    expect(() => find({ DOCKER_HOST: address })).toThrow(
      expect.objectContaining({ code: "BACKEND_UNAVAILABLE", message: expect.stringMatching(message) as string }),
    );
  });

  it("names a context that is not there, and a configuration that cannot be read", () => {
    configure({ currentContext: "gone" });
    expect(() => find()).toThrow(/no Docker context "gone"/);
    writeFileSync(join(folder, "config.json"), "{");
    expect(() => find()).toThrow(expect.objectContaining({ code: "BACKEND_UNAVAILABLE" }));
  });
});

describe("parseAddress()", () => {
  it("gives the certificates of today to an address that is still the one in use", () => {
    const env = { DOCKER_CONFIG: folder, DOCKER_HOST: "tcp://h:2376", DOCKER_TLS_VERIFY: "1" };
    expect(parseAddress("tcp://h:2376", env).tls).toBeDefined();
    expect(parseAddress("unix:///old.sock", env)).toMatchObject({ socketPath: "/old.sock" });
  });
});
