import { readFileSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askAmongAddresses } from "../helpers/addresses.ts";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation } from "../helpers/installation.ts";
import { Outside } from "../helpers/outside.ts";

const LISTED = "listed.example.test";
const PROXY = "http://127.0.0.1:9099";
const CURL = "curl -sS --max-time 10";

describe("a sandbox that wants out", () => {
  let at: DoorsInstallation;
  let outside: Outside;
  let id: string;
  const run = async (command: string) =>
    await at.sdk.execWorkspace(id, { command: ["bash", "-c", command], timeout_seconds: 60 });

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("se"));
    outside = await new Outside().open(at.at, [LISTED]);
    const asked: Parameters<typeof at.sdk.createWorkspace>[0] = {
      backend: "container",
      environment: "host",
      network_policy: "egress",
      allow_hosts: [LISTED],
    } as const;
    id = (await at.sdk.createWorkspace(asked)).workspace_id;
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  it.each([
    ["an address", `${CURL} -k -x ${PROXY} --noproxy '' https://127.0.0.1/x`],
    ["a decimal address", `${CURL} -k -x ${PROXY} --noproxy '' --request-target /x https://2130706433/`],
    ["an octal address", `${CURL} -x ${PROXY} --noproxy '' http://0177.0.0.1/x`],
    ["a mapped address", `${CURL} -k -x ${PROXY} --noproxy '' 'https://[::ffff:127.0.0.1]/x'`],
    ["a metadata address", `${CURL} -x ${PROXY} --noproxy '' http://169.254.169.254/latest/meta-data/`],
    ["another port", `${CURL} -k https://${LISTED}:22/x`],
    ["a Host of another", `${CURL} -H 'Host: other.example.test' https://${LISTED}/x`],
    [
      "a name of another in the handshake",
      `${CURL} -k --connect-to other.example.test:443:${LISTED}:443 https://other.example.test/x`,
    ],
    ["a path that climbs", `${CURL} --path-as-is https://${LISTED}/a/../x`],
    ["no proxy at all", `${CURL} --noproxy '*' https://93.184.215.14/x`],
    ["a resolver", "getent ahosts example.com"],
    ["a datagram", "exec 3<>/dev/udp/192.0.2.53/53 && echo x >&3"],
  ])("G-35 finds no way by %s", async (_how, command) => {
    outside.asked.length = 0;
    const { stdout, exit_code: code } = await run(command);
    if (code === 0) expect(stdout).toMatch(/EGRESS_DENIED|400 Bad Request|^$/);
    expect(outside.upstream.seen.filter(({ url }) => url.includes("x"))).toEqual([]);
    expect(outside.asked.filter((to) => to !== `${LISTED}:443`)).toEqual([]);
  });

  it("G-42 meets a gate without rights", () => {
    const pid = at.gate(id)?.gate ?? 0;
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const value = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1];
    expect(value("NoNewPrivs")).toBe("1");
    expect(value("Seccomp")).toBe("2");
    for (const set of ["CapEff", "CapPrm", "CapAmb", "CapInh"]) expect(value(set), set).toBe("0000000000000000");
    if (process.getuid?.() === 0) {
      const ids = (name: string) => new RegExp(`^${name}:(.*)$`, "m").exec(status)?.[1]?.trim().split(/\s+/);
      const own = String(1_880_000_000 + (at.gate(id)?.keeper ?? 0));
      expect([ids("Uid"), ids("Gid")]).toEqual([Array(4).fill(own), Array(4).fill(own)]);
      expect(ids("Groups")).toEqual([""]);
    }
    // What is of a process that leaves no core is root's, not its user's.
    expect(statSync(`/proc/${pid}/mem`).uid).toBe(0);
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    expect(
      files.filter((file) => file.startsWith("/") && !/^\/dev\/null$|\/gate\.log(?:\.1)?$|^\/memfd:/.test(file)),
    ).toEqual([]);
    const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
    expect(limits).toMatch(/Max core file size\s+1\s+1/);
  });

  it("G-35 reaches neither the gate of another sandbox nor its authority", async () => {
    const other = (
      await at.sdk.createWorkspace({
        backend: "container",
        environment: "host",
        network_policy: "egress",
        allow_hosts: ["other.example.test"],
      })
    ).workspace_id;
    const certificate = async (one: string) =>
      (await at.sdk.execWorkspace(one, { command: "cat $NODE_EXTRA_CA_CERTS" })).stdout;
    expect(await certificate(other)).toContain("BEGIN CERTIFICATE");
    expect(await certificate(other)).not.toBe(await certificate(id));
    const { exit_code: code } = await at.sdk.execWorkspace(other, { command: `${CURL} https://${LISTED}/x` });
    expect(code).not.toBe(0);
    const { stdout } = await run("cat /proc/*/environ /run/cloche/* 2>/dev/null | grep -c 'PRIVATE KEY'");
    expect(stdout.trim()).toBe("0");
    await at.sdk.deleteWorkspace(other);
  });
});

describe("a gate among the addresses of a network that the test made", () => {
  const OUTSIDE = "93.184.215.14";
  const inside = {
    "loopback.example.test": ["127.0.0.1"],
    "loopback-nine.example.test": ["127.9.9.9"],
    "loopback-six.example.test": ["::1"],
    "mapped.example.test": ["::ffff:127.0.0.1"],
    "any.example.test": ["0.0.0.0"],
    "metadata.example.test": ["169.254.169.254"],
    "ten.example.test": ["10.1.2.3"],
    "office.example.test": ["172.16.5.4"],
    "home.example.test": ["192.168.1.1"],
    "shared.example.test": ["100.64.0.1"],
    "local-six.example.test": ["fd00::1"],
    "many.example.test": ["224.0.0.1"],
  };
  const OPEN = "open.example.test";
  const MIXED = "mixed.example.test";
  const NAMED = "named.example.test";
  const REBOUND = "rebound.example.test";

  it("G-36 refuses what leads inside by its address, and dials the address that it checked", () => {
    const asked = askAmongAddresses({
      hosts: { ...inside, [OPEN]: [OUTSIDE], [MIXED]: ["::1", OUTSIDE] },
      rebound: { host: REBOUND, addresses: [OUTSIDE, "10.1.2.3"] },
      connect: { host: NAMED, to: "10.1.2.3:80" },
    });
    const denied = {
      code: "EGRESS_DENIED",
      message: expect.stringMatching(/leads to an address that is [a-z]/) as string,
      reached: [],
    };
    const went = (address: string) => ({ code: null, message: "reached\n", reached: [address] });
    expect(asked).toEqual([
      ...Object.keys(inside).map((host) => ({ host, ...denied })),
      { host: OPEN, ...went(OUTSIDE) },
      { host: MIXED, ...went(OUTSIDE) },
      { host: NAMED, ...went("10.1.2.3") },
      { host: REBOUND, ...went(OUTSIDE) },
      { host: REBOUND, ...denied },
    ]);
  });
});
