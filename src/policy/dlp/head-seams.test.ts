import { describe, expect, it } from "vitest";
import { createRandom } from "../../../test/helpers/random.ts";
import { createDetector } from "./create-detector.ts";
import type { KnownValue, RequestHead } from "./detector.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";

const VALUE = ["pw-kJ8s", "Qp2vZx", "7Lm4Rt"].join("");
const known: KnownValue[] = [{ detector: "known_secrets", name: "PASSWORD", value: VALUE }];
const scan = createDetector({ known }).scope();
const head = (more: Partial<RequestHead>): RequestHead => ({
  host: "api.example.test",
  path: "/",
  query: "",
  headers: [],
  ...more,
});

describe("G-190 what the places of a request say together", () => {
  it("tells the place in which the value begins", () => {
    const headers = [["x-note", VALUE.slice(0, 10)]] as const;
    const findings = scan.head(head({ path: `/v1/${VALUE.slice(10)}`, headers }));
    expect(findings).toMatchObject([{ rule: "known-secret", name: "PASSWORD", place: "header", view: "joined" }]);
  });

  it("finds the tokens of nearly every rule, cut into two headers with another one between", () => {
    const isValue = (text: string) => /^[!-~]{16,300}$/.test(text);
    const tokens = TOKEN_RULES.filter(({ hit, severity }) => severity === "high" && isValue(hit()));
    const missed = tokens.filter(({ id, hit }) => {
      const text = hit();
      const middle = Math.ceil(text.length / 2);
      const headers = [
        ["x-a", text.slice(middle)],
        ["x-b", "nothing"],
        ["x-c", text.slice(0, middle)],
      ] as const;
      return !scan.head(head({ headers })).some(({ rule }) => rule === id);
    });
    expect(tokens.length).toBeGreaterThan(100);
    expect(missed.map(({ id }) => id)).toEqual([]);
  });

  it("takes no head for one that was looked at because the same values are in other places of it", () => {
    const token = TOKEN_RULES.find(({ id }) => id === "aws-access-key-id")?.hit() ?? "";
    const [one, two, three] = [token.slice(0, 7), token.slice(7, 14), token.slice(14)];
    const rest = [
      ["x-b", two],
      ["x-c", three],
    ] as const;
    expect(scan.head(head({ query: `q=${one}`, headers: rest }))).toEqual([]);
    expect(scan.head(head({ headers: [["x-a", one], ...rest] }))).toMatchObject([{ rule: "aws-access-key-id" }]);
  });

  it("finds a pair of which one value was there before with others", () => {
    const headers = (value: string) =>
      [
        ["x-a", VALUE.slice(0, 10)],
        ["x-b", "something"],
        ["x-c", value],
      ] as const;
    expect(scan.head(head({ headers: headers("else") }))).toEqual([]);
    expect(scan.head(head({ headers: headers(VALUE.slice(10)) }))).toMatchObject([{ rule: "known-secret" }]);
  });

  it("lets a value pass that may pass, whatever comes behind it", () => {
    const token = TOKEN_RULES.find(({ id }) => id === "github-pat")?.hit() ?? "";
    const may: KnownValue[] = [{ detector: "known_secrets", name: "TOKEN", value: token }];
    const passing = createDetector({ known: may }).scope({ pass: ["TOKEN"] });
    const headers = [
      ["x-token", token],
      ["x-note", "0123456789abcdef"],
    ] as const;
    expect(passing.head(head({ headers }))).toEqual([]);
    const body = passing.body({ mode: "find", head: head({ headers }) });
    body.push(Buffer.from("0123456789abcdef"));
    body.end();
    expect(body.findings).toEqual([]);
  });

  it("does not mistake ordinary requests", () => {
    for (const one of ORDINARY) {
      expect(scan.head(one), one.path).toEqual([]);
      const body = scan.body({ mode: "find", head: one });
      body.push(Buffer.from('{"model":"some-model-20260101","messages":[{"role":"user","content":"hello"}],"id":"x"}'));
      body.end();
      expect(body.findings, one.path).toEqual([]);
    }
  });

  it("nor random identifiers", () => {
    const next = createRandom(7);
    const text = (characters: string, length: number) =>
      Array.from({ length }, () => characters[next(characters.length)] ?? "").join("");
    const hex = "0123456789abcdef";
    const any = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const uuid = () => [8, 4, 4, 4, 12].map((length) => text(hex, length)).join("-");
    // The few characters by which some tokens are known are in random ones too.
    const known = ["hf_", "npm_", "fm2_", "ghp_", "pat_"];
    const words = () => `${text(any, 9)}${known[next(known.length)] ?? ""}${text(any, 10)}`;
    for (let count = 0; count < 300; count++) {
      const one = head({
        path: `/v1/projects/${uuid()}/objects/${text(hex, 40)}`,
        query: `cursor=${text(any, 24)}&limit=${next(1000)}&sig=${text(`${any}-_`, 43)}`,
        headers: [
          ["x-request-id", uuid()],
          ["etag", `"${text(hex, 32)}"`],
          ["traceparent", `00-${text(hex, 32)}-${text(hex, 16)}-01`],
          ["x-words", words()],
          ["x-more-words", words()],
          ["cookie", `session=${text(any, 40)}; id=${uuid()}`],
        ],
      });
      expect(scan.head(one)).toEqual([]);
    }
  });

  it("is bounded, however many values there are", () => {
    const headers = Array.from({ length: 200 }, (_, at) => [`x-${at}`, "a".repeat(400)] as const);
    const started = performance.now();
    scan.head(head({ headers }));
    expect(performance.now() - started).toBeLessThan(200);
  });
});

/** As tools send them. */
const ORDINARY: readonly RequestHead[] = [
  head({
    host: "api.anthropic.com",
    path: "/v1/messages",
    query: "beta=true",
    headers: [
      ["anthropic-version", "2023-06-01"],
      ["anthropic-beta", "claude-code-20250219,interleaved-thinking-2025-05-14"],
      ["x-app", "cli"],
      ["x-stainless-lang", "js"],
      ["x-stainless-package-version", "0.60.0"],
      ["x-stainless-os", "Linux"],
      ["x-stainless-arch", "x64"],
      ["x-stainless-runtime", "node"],
      ["x-stainless-runtime-version", "v20.19.0"],
      ["x-stainless-retry-count", "0"],
      ["x-stainless-timeout", "600"],
    ],
  }),
  head({
    host: "api.openai.com",
    path: "/v1/responses",
    headers: [
      ["openai-beta", "responses=experimental"],
      ["originator", "codex_cli_rs"],
      ["session_id", "0199f0a2-4d5e-7cc0-9c11-2e0b9a4f7d31"],
      ["conversation_id", "0199f0a2-4d5e-7cc0-9c11-2e0b9a4f7d31"],
    ],
  }),
  head({
    host: "registry.example.test",
    path: "/@types%2fnode/-/node-20.19.43.tgz",
    headers: [
      ["npm-command", "install"],
      ["pacote-version", "18.0.6"],
      [
        "pacote-integrity",
        "sha512-2cCgvRDbS5zTe5EFJoEMFx3lMPYwCqEkVtXZ5uVuPnRWxWqXyGm6sAsbqFNDIRnRS7o9gE8SgIVFlK2VwGnyLg==",
      ],
      ["pacote-req-type", "tarball"],
      ["if-none-match", '"9c3f4f9d3fcd52b7a6f8bb2b2e1a0c77"'],
    ],
  }),
  head({
    host: "github.com",
    path: "/example/project.git/info/refs",
    query: "service=git-upload-pack",
    headers: [["git-protocol", "version=2"]],
  }),
  head({
    host: "storage.example.test",
    path: "/bucket/0f/3c/0f3c9d6a5b1e4f708192a3b4c5d6e7f8/part-00001.parquet",
    query:
      "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    headers: [["x-amz-content-sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]],
  }),
  head({
    host: "pypi.example.test",
    path: "/packages/5a/18/6b1d2c3e4f/requests-2.32.3-py3-none-any.whl",
    headers: [["x-pypi-last-serial", "26041512"]],
  }),
];
