import { describe, expect, it } from "vitest";
import { type Ended, missedHost, missedNetwork } from "./missing-network.ts";

const ended = (command: string | string[], fields: Partial<Ended>): Ended => ({
  command,
  exit_code: 1,
  timed_out: false,
  stdout: "",
  stderr: "",
  ...fields,
});

/** What the tools themselves printed in a sandbox, or in a network namespace with nothing in it; only the hosts have other names. */
const REAL: readonly (readonly [string, string, number, string])[] = [
  [
    "npm in a sandbox",
    "npm install left-pad",
    1,
    `npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.example/left-pad failed, reason: getaddrinfo ENOTFOUND registry.example
npm error network This is a problem related to network connectivity.`,
  ],
  [
    "npm with a name server that is not there",
    "npm test",
    1,
    `npm error code EAI_AGAIN
npm error syscall getaddrinfo
npm error errno EAI_AGAIN
npm error request to https://registry.example/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.example`,
  ],
  [
    "pnpm",
    "pnpm add left-pad",
    1,
    " ERR_PNPM_META_FETCH_FAIL  GET https://registry.example/left-pad: request to https://registry.example/left-pad failed, reason: getaddrinfo ENOTFOUND registry.example",
  ],
  ["yarn 1", "yarn add left-pad", 1, "error Error: getaddrinfo ENOTFOUND registry.example"],
  ["yarn 4", "yarn add left-pad", 1, "➤ YN0001: RequestError: getaddrinfo ENOTFOUND registry.example"],
  ["bun", "bun add left-pad", 1, "error: DNSResolveFailed downloading package manifest left-pad"],
  [
    "pip",
    "make deps",
    2,
    "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f4785854e90>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/requests/",
  ],
  [
    "pip without a retry",
    "python3 -m pip install requests",
    1,
    `ERROR: Could not find a version that satisfies the requirement requests (from versions: none)
ERROR: No matching distribution found for requests`,
  ],
  [
    "Python",
    "python3 fetch.py",
    1,
    "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
  ],
  [
    "git",
    "git clone https://github.com/a/b",
    128,
    "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
  ],
  ["curl", "curl -sS https://example.com", 6, "curl: (6) Could not resolve host: example.com"],
  [
    "curl with an address",
    "./fetch.sh",
    7,
    "curl: (7) Failed to connect to 10.1.2.3 port 80 after 0 ms: Couldn't connect to server",
  ],
  [
    "wget",
    "./fetch.sh",
    4,
    `Resolving example.com (example.com)... failed: Name or service not known.
wget: unable to resolve host address ‘example.com’`,
  ],
  [
    "apt, which ends well",
    "apt-get update",
    0,
    "W: Failed to fetch http://deb.example/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.example'",
  ],
  [
    "cargo",
    "cargo build",
    101,
    `Caused by:
  [6] Could not resolve hostname (Could not resolve host: index.crates.io)`,
  ],
  [
    "go in a sandbox",
    "go build ./...",
    1,
    'go: module golang.org/x/text: Get "https://proxy.golang.org/golang.org/x/text/@v/list": dial tcp: address proxy.golang.org: no suitable address found',
  ],
  [
    "go with a name server that is not there",
    "go test ./...",
    1,
    'Get "https://proxy.golang.org/golang.org/x/text/@v/list": dial tcp: lookup proxy.golang.org on 10.255.255.53:53: dial udp 10.255.255.53:53: connect: network is unreachable',
  ],
  ["node", "node main.js", 1, "  [cause]: Error: getaddrinfo ENOTFOUND example.com"],
];

describe("missedNetwork()", () => {
  it.each(REAL)("%s", (_, command, exit_code, stderr) => {
    expect(missedNetwork(ended(command, { exit_code, stderr }))).toBe(true);
    expect(missedNetwork(ended(["sh", "-c", command], { exit_code, stdout: stderr }))).toBe(true);
  });

  it("looks through a pipe that hides the exit code", () => {
    const stdout = "npm error code ENOTFOUND\n";
    expect(missedNetwork(ended("npm install 2>&1 | tail -5", { exit_code: 0, stdout }))).toBe(true);
  });

  it.each([
    ["npm install"],
    ["cd app && npm ci"],
    ["npm --prefix app install"],
    ["npx --yes cowsay"],
    ["git -C repo fetch origin"],
    ["python3 -m pip install -r requirements.txt"],
    ["/usr/bin/curl https://example.com"],
    ["cargo fetch"],
    ["go get golang.org/x/text"],
    ["sudo apt-get -y install jq"],
  ])("a time-out of %s", (command) => {
    expect(missedNetwork(ended(command, { timed_out: true, exit_code: 124 }))).toBe(true);
  });

  it.each([
    ["a test that is slow", ended("npm test", { timed_out: true, exit_code: 143 })],
    ["a build that is slow", ended("cargo build", { timed_out: true, exit_code: 143 })],
    ["a word within a word", ended("./curly && gitk clone", { timed_out: true, exit_code: 143 })],
    ["a server of the sandbox", ended("curl http://localhost:3000", { timed_out: true, exit_code: 143 })],
    ["a port of the sandbox", ended("curl x", { stderr: "curl: (7) Failed to connect to localhost port 3000" })],
    ["a search for the words", ended("grep -r EAI_AGAIN src", { exit_code: 0, stdout: "src/a.ts: EAI_AGAIN\n" })],
    ["an ordinary failure", ended("npm install", { stderr: "npm error code ERESOLVE\n" })],
    ["words long ago", ended("make", { stderr: `Could not resolve host: a\n${"compiling\n".repeat(2000)}` })],
  ])("is not said of %s", (_, one) => expect(missedNetwork(one)).toBe(false));
});

describe("a host that is not listed", () => {
  it.each([
    ["curl https://a.example", "curl: (56) CONNECT tunnel failed, response 403"],
    [
      "git clone https://a.example/x",
      "fatal: unable to access 'https://a.example/x/': CONNECT tunnel failed, response 403",
    ],
    ["python3 get.py", "urllib.error.URLError: <urlopen error Tunnel connection failed: 403 Forbidden>"],
    ["wget https://a.example", "Proxy tunneling failed: ForbiddenUnable to establish SSL connection."],
    ["npm view x", "npm error 403 403 Forbidden - GET https://a.example/x - [object Object]"],
    ["node get.js", "Error: getaddrinfo ENOTFOUND a.example"],
  ])("is what %s wanted", (command, stderr) => {
    expect(missedHost(ended(command, { stderr }))).toBe(true);
  });

  it.each([
    ["a server's own refusal", ended("curl -f https://a.example", { stderr: "The requested URL returned error: 403" })],
    ["a registry's own", ended("npm view x", { stderr: "npm error 403 403 Forbidden - GET https://a.example/x" })],
    ["a slow answer", ended("curl https://a.example", { timed_out: true, exit_code: 124 })],
    [
      "a search for the words",
      ended("grep -r tunnel", { exit_code: 0, stdout: "CONNECT tunnel failed, response 403" }),
    ],
  ])("is not said of %s", (_, one) => expect(missedHost(one)).toBe(false));
});
