import { expect, it } from "vitest";
import { parse } from "yaml";
import { learnRoutes } from "../../policy/egress/learn-routes.ts";
import { parseEgress } from "../../policy/egress/parse-egress.ts";
import { learnedYaml } from "./learned-yaml.ts";

it("is a policy with and without its marks, also when something of a listed host was denied", () => {
  const present = { routes: [{ host: "api.example.com", ports: [80] }, { host: "docs.example.com" }] };
  const request = (host: string, path: string, isDenied: boolean) => ({
    method: "GET",
    host,
    port: 80,
    path,
    isDenied,
  });
  const { routes, denied, hosts } = learnRoutes(
    [
      request("api.example.com", "/v1", false),
      request("api.example.com", "/admin", true),
      request("docs.example.com", "/", false),
      request("evil.example.com", "/", true),
    ],
    present,
  );
  const text = learnedYaml({
    workspace_id: "ws-0000000000",
    egress: { log: "all", routes },
    denied,
    hosts,
    request_count: 4,
    denied_count: 2,
  });
  expect(text).toMatch(/^# Seen: 4 requests to 3 hosts, 2 denied\n/);
  const readBack = (yaml: string) => parseEgress((parse(yaml) as { egress: unknown }).egress);
  expect(readBack(text)).toMatchObject({
    egress: {
      routes: [{ host: "api.example.com", ports: [80], matches: [{ methods: ["GET"] }] }, { host: "docs.example.com" }],
    },
  });
  const marksTakenAway = text
    .split("\n")
    .filter((line) => !line.includes("take the marks away"))
    .map((line) => line.replace(/^( +)# /, "$1"))
    .join("\n");
  expect(readBack(marksTakenAway)).toMatchObject({
    egress: {
      routes: [
        { host: "api.example.com", matches: [{ paths: [{ value: "/v1" }] }, { paths: [{ value: "/admin" }] }] },
        { host: "docs.example.com" },
        { host: "evil.example.com" },
      ],
    },
  });
});
