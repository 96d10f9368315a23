import type { PushRules } from "./git-policy.ts";

/** The port of the git door in a sandbox. */
export const GIT_PORT = 9418;

/** How the gate gets to a repository's upstream. */
export type UpstreamWay =
  | {
      readonly kind: "http";
      /** Without a user or a password in it. */
      readonly url: string;
      /** The whole value of `Authorization`; null where none is sent. */
      readonly authorization: string | null;
      /** The variable that its token comes from. */
      readonly token_name: string | null;
      /** PEM; trusted in place of the host's own authorities. */
      readonly ca: string | null;
    }
  | {
      /** The gate's keeper runs a program and hands over its standard input and output: for `ssh` and for files of the host. */
      readonly kind: "program";
      /** Places of the keeper (`gate_links.c`). */
      readonly fetch_place: number;
      readonly push_place: number;
      /** Of the pinned host key, for errors; null for a file. */
      readonly fingerprint: string | null;
    };

/** A repository as a tool asks for it that knows nothing of the git door. */
export interface WebPlace {
  /** In lower case. */
  readonly host: string;
  readonly ports: readonly number[];
  /** Without a slash before it and without `.git`. */
  readonly path: string;
}

export interface GateRepo {
  readonly name: string;
  /** `HOST:PORT`, or `file`: for what is told. */
  readonly shown: string;
  /** Where the web has it; null for a file. */
  readonly web: WebPlace | null;
  readonly way: UpstreamWay;
  readonly rules: PushRules;
  /** Fingerprints of findings that may pass. */
  readonly allowed_findings: readonly string[];
  readonly allow_stale: boolean;
  readonly on_violation: "block" | "supervise";
}

/** What commits are to be by; a field that is null may be anything. */
export interface GateIdentity {
  readonly name: string | null;
  readonly email: string | null;
}

/** What a git door serves. */
export interface GitOrder {
  /** Where mirrors are, as the gate sees it. */
  readonly folder: string;
  readonly identity: GateIdentity | null;
  readonly repos: readonly GateRepo[];
  /** What signs commits and tags; null where nothing does. */
  readonly signing: { readonly place: number } | null;
  /** The host's own way out. */
  readonly way_out: { readonly proxy: string | null; readonly ca: string | null };
}

/** A program that the keeper of a gate runs when the gate asks for its place. */
export interface GateProgram {
  readonly place: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Places above all ports are programs. */
export const FIRST_PROGRAM_PLACE = 65_536;
