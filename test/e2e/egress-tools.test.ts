import { linkSync, mkdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { denoProgram, goProgram } from "../helpers/agents.ts";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation } from "../helpers/installation.ts";
import { Outside } from "../helpers/outside.ts";

const HOST = "listed.example.test";
const url = (path: string) => `https://${HOST}/${path}`;
/** As a tool runs that somebody starts without the variables: only the system's own files say what to trust, and only names lead out. */
const BARE = "env -i PATH=$PATH HOME=$HOME";
const URLLIB = (path: string) => `import urllib.request; urllib.request.urlopen("${url(path)}").read()`;
const RUBY = (path: string) => `require "net/http"; puts Net::HTTP.get(URI("${url(path)}"))`;
const NODE = (path: string) => `require("https").get("${url(path)}", (answer) => answer.pipe(process.stdout))`;
const APT = [
  "mkdir -p /tmp/apt/lists/partial /tmp/apt/archives/partial; echo 'deb [trusted=yes] " +
    url("apt") +
    " stable main' > /tmp/apt/list;",
  "apt-get -o Dir::State::lists=/tmp/apt/lists -o Dir::Cache=/tmp/apt -o Dir::Etc::SourceList=/tmp/apt/list",
  "-o Dir::Etc::SourceParts=- -o APT::Sandbox::User= -o Acquire::Retries=0 update",
].join(" ");

const BOTO3 = `boto3.client("s3", region_name="r", endpoint_url="${url("aws")}", aws_access_key_id="a", aws_secret_access_key="b")`;
const CARGO = `CARGO_HOME=/tmp/cargo CARGO_NET_RETRY=0 CARGO_REGISTRIES_OWN_INDEX=${url("cargo")} /usr/bin/cargo search --registry own x`;
const DENO = (path: string) =>
  `/workspace/tools/deno eval --no-check 'const answer = await fetch("${url(path)}"); console.log(await answer.text());'`;

/** Java's own client of HTTP, which offers HTTP/2 wherever it can: in the handshake, and in plain requests. */
const ASK_IN_JAVA = `cat > /tmp/Ask.java <<'END'
import java.net.URI;
import java.net.http.*;
class Ask {
  public static void main(String[] words) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(words[0])).POST(HttpRequest.BodyPublishers.ofString("a body")).build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.version());
  }
}
END
java /tmp/Ask.java`;

/** Its own sandbox needs namespaces, which a command here has none of. What it asks for besides is refused. */
const CHROMIUM = [
  "/usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run",
  "--disable-background-networking --disable-component-update --disable-sync --user-data-dir=/tmp/chromium --dump-dom",
].join(" ");

/** The command, and the path that the upstream has seen when the tool has trusted the gate. */
const TOOLS: Readonly<Record<string, readonly [command: string, path: string]>> = {
  curl: [`curl -sS ${url("curl")}`, "/curl"],
  "curl without variables": [`${BARE} curl -sS ${url("bare-curl")}`, "/bare-curl"],
  git: [`git ls-remote ${url("git")}`, "/git/info/refs?service=git-upload-pack"],
  "git without variables": [`${BARE} git ls-remote ${url("bare-git")}`, "/bare-git/info/refs?service=git-upload-pack"],
  Node: [`node -e '${NODE("node")}'`, "/node"],
  npm: [`npm ping --registry ${url("npm/")}`, "/npm/-/ping"],
  Python: [`/usr/bin/python3 -c '${URLLIB("python")}'`, "/python"],
  requests: [`/usr/bin/python3 -c 'import requests; requests.get("${url("requests")}")'`, "/requests"],
  httpx: [`/usr/bin/python3 -c 'import httpx; httpx.get("${url("httpx")}")'`, "/httpx"],
  pip: [`/usr/bin/python3 -m pip download -d /tmp --retries 0 --index-url ${url("pip")} nothing`, "/pip/nothing/"],
  Chromium: [`${CHROMIUM} ${url("chromium")}`, "/chromium"],
  openssl: [
    `printf 'GET /openssl HTTP/1.1\\r\\nHost: ${HOST}\\r\\nConnection: close\\r\\n\\r\\n' |
     openssl s_client -quiet -verify_return_error -servername ${HOST} -connect ${HOST}:443`,
    "/openssl",
  ],
  Ruby: [`ruby -e '${RUBY("ruby")}'`, "/ruby"],
  apt: [APT, "/apt/dists/stable/InRelease"],
  "a static program of Go": [`/workspace/tools/ask ${url("go")}`, "/go"],
  "a static program of Go without variables": [`${BARE} /workspace/tools/ask ${url("bare-go")}`, "/bare-go"],
  "the go command": [
    `GOFLAGS=-mod=mod GOCACHE=/tmp/go GOPATH=/tmp/gopath GONOSUMDB=* GOPROXY=${url("goproxy")} /usr/bin/go list -m -versions example.test/x`,
    "/goproxy/example.test/x/@v/list",
  ],
  "cargo, of Rust": [CARGO, "/cargo/info/refs?service=git-upload-pack"],
  "Deno, which is of Rust": [DENO("deno"), "/deno"],
  "boto3, of AWS": [`/usr/bin/python3 -c 'import boto3; ${BOTO3}.list_buckets()'`, "/aws"],
  // Java knows no proxy of a variable: names lead it to the gate.
  Java: [`keytool -printcrl -file ${url("java")}`, "/java"],
  "the client of Java": [`${ASK_IN_JAVA} ${url("java-client")}`, "/java-client"],
  "the client of Java, without TLS,": [`${ASK_IN_JAVA} http://${HOST}/java-plain`, "/java-plain"],
};

describe("a sandbox with network policy egress", () => {
  let at: DoorsInstallation;
  let outside: Outside;
  let id: string;
  const run = async (command: string) => {
    const { exit_code, stdout, stderr } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 60 });
    return { code: exit_code, all: stdout + stderr };
  };

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("et"));
    outside = await new Outside().open(at.at, [HOST]);
    outside.upstream.handler = (request, response) => {
      const isFound = !/git|pip|apt/.test(request.url ?? "");
      (response as ServerResponse).writeHead(isFound ? 200 : 404, { "content-type": "application/json" }).end("{}\n");
    };
    const made = await at.sdk.createWorkspace({
      backend: "container",
      environment: "host",
      network_policy: "egress",
      allow_hosts: [HOST],
    });
    id = made.workspace_id;
    const tools = at.at.path("tools");
    mkdirSync(tools);
    for (const program of [denoProgram(), goProgram()]) linkSync(program, join(tools, basename(program)));
    await at.sdk.pushWorkspaceSync(id, tools, { dest: "tools" });
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  it.each(Object.entries(TOOLS))("has %s trust its gate", async (_tool, [command, path]) => {
    const { all } = await run(command);
    expect([all, outside.upstream.seen.some(({ url: seen }) => seen === path)]).toEqual([expect.anything(), true]);
  });

  it("has a name found by who asks for addresses that fit the interfaces", async () => {
    expect(await run(`getent ahostsv4 ${HOST}`)).toMatchObject({
      code: 0,
      all: expect.stringMatching(/^127\.\d/) as string,
    });
    expect(await run("getent ahostsv4 unlisted.example.test")).toMatchObject({ code: 2, all: "" });
  });

  it("has Java find its hosts, and a truststore with the gate in it", async () => {
    const shown = await run(`keytool -printcert -rfc -sslserver ${HOST}:443`);
    const own = await run("cat $NODE_EXTRA_CA_CERTS");
    expect(shown.all.replaceAll("\r", "")).toContain(own.all.trim());
    const store = "${JAVA_TOOL_OPTIONS#*trustStore=}";
    const { all } = await run(`keytool -list -rfc -keystore ${store} -storepass changeit`);
    expect(all.replaceAll("\r", "")).toContain(own.all.trim());
    const count = Number(/contains (\d+) entries/.exec(all)?.[1]);
    expect(count).toBe(Number((await run("grep -c BEGIN $SSL_CERT_FILE")).all));
  });

  it("is trusted by what reads the database of NSS, as browsers do", async () => {
    const handshake = `openssl s_client -servername ${HOST} -connect ${HOST}:443 </dev/null 2>/dev/null | openssl x509 > /tmp/leaf.pem`;
    const nss = (words: string) => `certutil -d sql:$HOME/.pki/nssdb ${words}`;
    await run(`${handshake}; ${nss("-A -t ,, -n leaf -i /tmp/leaf.pem")}`);
    expect((await run(nss("-V -u V -n leaf"))).all).toContain("certificate is valid");
    // Without the gate in it, it is not: what is asked is really asked.
    await run(nss(`-M -t ,, -n "cloche egress gate"`));
    expect((await run(nss("-V -u V -n leaf"))).all).not.toContain("certificate is valid");
  });

  it("has a tool that is told to trust somebody else refuse it", async () => {
    const { code } = await run(`curl -sS --cacert /etc/ssl/certs/ISRG_Root_X1.pem ${url("untrusted")}`);
    expect(code).toBe(60);
  });
});
