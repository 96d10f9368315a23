import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

/** Where a Docker engine is, found as the `docker` command finds it. */
export interface Endpoint {
  /** As in `DOCKER_HOST`. */
  readonly address: string;
  /** Who named it, for messages. */
  readonly source: string;
  readonly socketPath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsFiles;
}

interface TlsFiles {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly verify: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_ADDRESS = "unix:///var/run/docker.sock";
const TCP_PORT = 2375;
const TLS_PORT = 2376;

/** Part of a hint. The daemon keeps the variables that it was started with: it has to be stopped before a change counts. */
export const settingHost = (to: string): string => `set DOCKER_HOST to ${to} and then run \`cloche daemon stop\``;

/** `DOCKER_HOST`, else `DOCKER_CONTEXT`, else the current context of Docker's configuration, else the usual socket. */
export function findEndpoint(env: Env): Endpoint {
  const configuration = env["DOCKER_CONFIG"] || join(homedir(), ".docker");
  if (env["DOCKER_HOST"]) return fromAddress(env["DOCKER_HOST"], "DOCKER_HOST", tlsFromEnv(env, configuration));
  const context = env["DOCKER_CONTEXT"] || currentContext(configuration);
  if (context === undefined || context === "default")
    return fromAddress(DEFAULT_ADDRESS, "the default", tlsFromEnv(env, configuration));
  return fromContext(configuration, context);
}

/** An address that was recorded. Its certificates are those of today. */
export function parseAddress(address: string, env: Env): Endpoint {
  const now = findEndpoint(env);
  return now.address === address ? now : fromAddress(address, "the record", undefined);
}

function fromAddress(address: string, source: string, tls: TlsFiles | undefined): Endpoint {
  const socketPath = /^unix:\/\/(\/.+)$/.exec(address)?.[1];
  if (socketPath !== undefined) return { address, source, socketPath };
  const tcp = /^(tcp|http|https):\/\/(\[[^\]]+\]|[^/:]+)(?::(\d+))?\/?$/.exec(address);
  if (tcp) {
    const [, scheme, host = "", port] = tcp;
    const secured =
      tls ?? (scheme === "https" ? { ca: undefined, cert: undefined, key: undefined, verify: true } : undefined);
    return {
      address,
      source,
      host: host.replace(/^\[|\]$/g, ""),
      port: port === undefined ? (secured ? TLS_PORT : TCP_PORT) : Number(port),
      ...(secured && { tls: secured }),
    };
  }
  throw failure("BACKEND_UNAVAILABLE", `Cannot reach a Docker engine at "${address}", which ${source} names`, {
    hint: `Use an engine at a unix:// or tcp:// address; for one behind ssh, forward its socket, ${settingHost("that")}`,
  });
}

function tlsFromEnv(env: Env, configuration: string): TlsFiles | undefined {
  if (!env["DOCKER_TLS_VERIFY"] && !env["DOCKER_TLS"]) return undefined;
  return readTls(env["DOCKER_CERT_PATH"] || configuration, Boolean(env["DOCKER_TLS_VERIFY"]));
}

function readTls(folder: string, verify: boolean): TlsFiles {
  const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((name) => readIfThere(join(folder, name)));
  return { ca, cert, key, verify };
}

function currentContext(configuration: string): string | undefined {
  const text = readIfThere(join(configuration, "config.json"));
  if (!text) return undefined;
  const { currentContext: name } = parseObject(text, join(configuration, "config.json"));
  return typeof name === "string" && name !== "" ? name : undefined;
}

function fromContext(configuration: string, name: string): Endpoint {
  const id = createHash("sha256").update(name).digest("hex");
  const file = join(configuration, "contexts/meta", id, "meta.json");
  const text = readIfThere(file);
  if (!text) {
    throw failure("BACKEND_UNAVAILABLE", `There is no Docker context "${name}"`, {
      hint: `See \`docker context ls\`, then choose one with \`docker context use\`, or ${settingHost("an engine's address")}`,
    });
  }
  const endpoints = parseObject(text, file)["Endpoints"] as { docker?: { Host?: unknown; SkipTLSVerify?: unknown } };
  const address = endpoints.docker?.Host;
  const folder = join(configuration, "contexts/tls", id, "docker");
  const tls = readIfThere(join(folder, "ca.pem")) && readTls(folder, endpoints.docker?.SkipTLSVerify !== true);
  return fromAddress(typeof address === "string" ? address : DEFAULT_ADDRESS, `context "${name}"`, tls);
}

function parseObject(text: Buffer, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.toString("utf8"));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
    throw new Error("it is no object");
  } catch (error) {
    throw failure("BACKEND_UNAVAILABLE", `Cannot read Docker's configuration ${file}: ${messageOf(error)}`, {
      hint: `Correct the file, or ${settingHost("an engine's address")}`,
    });
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
