import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../base/log.ts";
import type { Store } from "../contracts/store.ts";
import { EventLog } from "../events/event-log.ts";
import { openStore } from "../store/open-store.ts";
import { OtlpExporter } from "./otlp-exporter.ts";
import { type OtlpTarget, otlpTarget } from "./otlp-target.ts";

interface Message {
  resourceLogs: {
    resource: { attributes: Pair[] };
    scopeLogs: { logRecords: { eventName: string; attributes: Pair[] }[] }[];
  }[];
}
interface Pair {
  key: string;
  value: object;
}

let home: string;
let store: Store;
let events: EventLog;
let exporter: OtlpExporter;
let said: string[];
let got: { path: string | undefined; headers: IncomingMessage["headers"]; message: Message }[];
let answer: (response: ServerResponse) => void;
const log = createLog((line) => said.push(line));
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(pieces).toString()) as Message;
    got.push({ path: request.url, headers: request.headers, message });
    answer(response);
  });
});

beforeEach(async () => {
  [said, got, answer] = [[], [], (response) => response.end("{}")];
  home = mkdtempSync(join(tmpdir(), "cloche-otlp-"));
  const opened = openStore(join(home, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  events = new EventLog({ store, clock: { now: () => 1000.5 }, log });
  events.record({ kind: "workspace.stopped", workspace_id: "ws-before" });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const headers = "authorization=Bearer%20s3cret,x-scope=a";
  const target = otlpTarget({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OTEL_EXPORTER_OTLP_TIMEOUT: "300",
  });
  exporter = new OtlpExporter({ target: target as OtlpTarget, events, log, version: "1.2.3", retryMs: 5 });
  exporter.start();
});
afterEach(async () => {
  await exporter.close();
  events.close();
  store.close();
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true });
});

const kinds = () =>
  got
    .flatMap(({ message }) =>
      message.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
    )
    .map(({ eventName }) => eventName);
const stop = (workspace_id: string) => events.record({ kind: "workspace.stopped", workspace_id });

describe("events for a collector", () => {
  it("go there as log records of OTLP, from now on", async () => {
    events.record({
      kind: "command.ended",
      workspace_id: "ws-a",
      command_sequence: 3,
      state: "done",
      exit_code: 1,
      timed_out: false,
      duration_ms: 1.5,
    });
    await expect.poll(() => kinds()).toEqual(["cloche.command.ended"]);
    expect(got[0]).toMatchObject({ path: "/v1/logs", headers: { authorization: "Bearer s3cret", "x-scope": "a" } });
    const [logs] = got[0]?.message.resourceLogs ?? [];
    expect(logs?.resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "cloche" } });
    expect(logs?.scopeLogs[0]?.logRecords[0]).toMatchObject({
      timeUnixNano: "1000500000000",
      severityText: "INFO",
      body: { stringValue: "command.ended" },
      attributes: expect.arrayContaining([
        { key: "cloche.workspace_id", value: { stringValue: "ws-a" } },
        { key: "cloche.exit_code", value: { intValue: "1" } },
        { key: "cloche.duration_ms", value: { doubleValue: 1.5 } },
        { key: "cloche.timed_out", value: { boolValue: false } },
      ]) as unknown,
    });
  });

  it("are sent again when the collector asks for it, and never when it refuses", async () => {
    let left = 2;
    answer = (response) => void response.writeHead(left-- > 0 ? 503 : 200).end();
    stop("ws-a");
    await expect.poll(() => got.length).toBe(3);
    answer = (response) => void response.writeHead(400).end();
    stop("ws-b");
    await expect.poll(() => said.join()).toContain("does not take events");
    answer = (response) => void response.end();
    stop("ws-c");
    await expect.poll(() => got.length).toBe(5);
    const attributes = got.at(-1)?.message.resourceLogs[0]?.resource.attributes;
    expect(attributes).toContainEqual({ key: "cloche.lost_events", value: { stringValue: "1" } });
  });

  it("G-114 hold nobody up: a collector that does not answer gets one message at a time, and is left behind", async () => {
    answer = () => undefined;
    for (let number = 0; number < 25_000; number++) stop("ws-a");
    await expect.poll(() => got.length, { timeout: 5000 }).toBeGreaterThan(0);
    expect(got.length).toBeLessThan(5);
    answer = (response) => void response.end();
    await expect.poll(() => said.join(), { timeout: 10_000 }).toContain("misses events");
    stop("ws-last");
    await expect.poll(() => JSON.stringify(got.at(-1)), { timeout: 10_000 }).toContain("ws-last");
    expect(kinds().length).toBeLessThan(25_000);
  });

  it("G-114 go nowhere else, and no header is told", async () => {
    answer = (response) => void response.writeHead(307, { location: "/elsewhere" }).end();
    stop("ws-a");
    await expect.poll(() => said.join()).toContain("does not take events");
    expect(got.map(({ path }) => path)).not.toContain("/elsewhere");
    expect(said.join()).not.toContain("s3cret");
  });

  it("G-114 tell no password of an address and no header, also where they cannot be sent", async () => {
    const { port } = server.address() as AddressInfo;
    const named = otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:hunter2@127.0.0.1:${port}` }) as OtlpTarget;
    expect(named.url).not.toContain("hunter2");
    expect(named.headers).toEqual({ authorization: `Basic ${Buffer.from("user:hunter2").toString("base64")}` });
    const header = "x-token=s3cret%0Aline";
    const unsendable = otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_HEADERS: header });
    expect(unsendable).toBe("OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent");
    for (const given of [
      { ...named, headers: { "x-token": "s3cret\nline" } },
      { ...named, url: `http://user:hunter2@127.0.0.1:${port}` },
    ]) {
      await exporter.close();
      said.length = 0;
      exporter = new OtlpExporter({ target: given, events, log, version: "1.2.3", retryMs: 5 });
      exporter.start();
      stop("ws-a");
      await expect.poll(() => said.join()).toContain("does not take events");
      expect(said.join()).not.toMatch(/hunter2|s3cret/);
    }
  });

  it("end with the daemon: the last are sent, unless nobody takes them", async () => {
    stop("ws-a");
    await exporter.close();
    expect(kinds()).toEqual(["cloche.workspace.stopped"]);
  });
});

describe("where they go", () => {
  it("is nowhere unless somebody asks, and said where it cannot be done", () => {
    expect(otlpTarget({})).toBeUndefined();
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_SDK_DISABLED: "true" })).toBeUndefined();
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" })).toMatch(/no URL/);
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://a" })).toMatch(/http/);
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toMatch(
      /grpc/,
    );
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "http://a/x" })).toMatchObject({ url: "http://a/x" });
    expect(otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a:4318/base/" })).toMatchObject({
      url: "http://a:4318/base/v1/logs",
    });
  });
});
