import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Egress } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import { type TokenState, authsOf, credentialName } from "../policy/egress/gate-routes.ts";
import { type PrintedToken, isSendable, runTokenCommand } from "./token-command.ts";

/** A new one is had that long before the last one ends, or after nine tenths of its time. */
const AHEAD_SECONDS = 60;
/** Between two runs that somebody asks for: an upstream that takes no token, or a command that fails, is not asked all the time. */
const FIRST_PAUSE_SECONDS = 2;
const LONGEST_PAUSE_SECONDS = 300;
/** After that long without one, the next run is a first one again. */
const CALM_SECONDS = 900;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Held extends TokenState {
  readonly command: readonly string[] | null;
  expiresAt: number | null;
  token: string | null;
  problem: string | null;
  lastRunAt: number;
  runs: number;
  isRunning: boolean;
  timer: NodeJS.Timeout | undefined;
}

export interface EgressTokensOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly run?: (argv: readonly string[]) => Promise<PrintedToken>;
}

/**
 * The tokens that gates put in, of all workspaces. They are in this process's memory and in the gates', and nowhere on a disk: a daemon that was started again knows none, and
 * gates go on with theirs. Those of a command are had anew when their time is over, or when a gate says that an upstream did not take one.
 */
export class EgressTokens {
  /** A workspace has other tokens than before; its gate is to be told. */
  onChanged: (workspaceId: string) => void = () => undefined;
  readonly #options: EgressTokensOptions;
  readonly #held = new Map<string, Map<string, Held>>();

  constructor(options: EgressTokensOptions) {
    this.#options = options;
  }

  /** Gets all that a policy names, before anything is made. Throws TOKEN_UNAVAILABLE with the name of the variable or the command. */
  async fetch(egress: Egress, given: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, TokenState>> {
    const tokens = new Map<string, Held>();
    for (const route of egress.routes ?? []) {
      for (const auth of authsOf(route)) {
        const { token_ref: variable, token_command: command } = auth;
        if (variable !== undefined) {
          const held = blank(null);
          held.token = givenToken(given, variable, route.host);
          tokens.set(variable, held);
        } else if (!tokens.has(credentialName(auth))) tokens.set(credentialName(auth), blank(command ?? []));
      }
    }
    await Promise.all([...tokens.values()].map(async (held) => held.command && (await this.#fill(held, held.command))));
    return tokens;
  }

  /** What was fetched is a workspace's from now on. */
  give(workspaceId: string, fetched: ReadonlyMap<string, TokenState>): void {
    this.forget(workspaceId);
    this.#held.set(workspaceId, fetched as Map<string, Held>);
    for (const [name, held] of this.#held.get(workspaceId) ?? []) this.#schedule(workspaceId, name, held);
  }

  /** For a fork, which has what its parent has. */
  copyOf(workspaceId: string): ReadonlyMap<string, TokenState> | undefined {
    const held = this.#held.get(workspaceId);
    return held && new Map([...held].map(([name, one]) => [name, { ...one, isRunning: false, timer: undefined }]));
  }

  stateOf(workspaceId: string, name: string): TokenState {
    const { token = null, problem = null } = this.#held.get(workspaceId)?.get(name) ?? {};
    return { token, problem };
  }

  /**
   * A gate has no such tokens, or an upstream did not take them. Those of variables come from whoever launched, and only from there.
   *
   * SECURITY: what goes on in a sandbox makes a command run now and then, never all the time (G-57)
   */
  want(workspaceId: string, egress: Egress, names: readonly string[]): void {
    for (const auth of (egress.routes ?? []).flatMap(authsOf)) {
      const name = credentialName(auth);
      if (auth.token_command === undefined || !names.includes(name)) continue;
      const held = this.#known(workspaceId, name, auth.token_command);
      if (held.isRunning) continue;
      const now = this.#options.clock.now();
      const isFirst = held.runs === 0 || now - held.lastRunAt > CALM_SECONDS;
      this.#runAt(workspaceId, name, held, isFirst ? now : held.lastRunAt + pauseAfter(held.runs));
    }
  }

  forget(workspaceId: string): void {
    for (const held of this.#held.get(workspaceId)?.values() ?? []) clearTimeout(held.timer);
    this.#held.delete(workspaceId);
  }

  close(): void {
    for (const workspaceId of this.#held.keys()) this.forget(workspaceId);
  }

  #known(workspaceId: string, name: string, command: readonly string[]): Held {
    const tokens = this.#held.get(workspaceId) ?? new Map<string, Held>();
    this.#held.set(workspaceId, tokens);
    const held = tokens.get(name) ?? blank(command);
    tokens.set(name, held);
    return held;
  }

  #schedule(workspaceId: string, name: string, held: Held): void {
    if (held.command === null || held.expiresAt === null) return;
    const left = held.expiresAt - this.#options.clock.now();
    this.#runAt(workspaceId, name, held, held.expiresAt - Math.min(AHEAD_SECONDS, left / 10));
  }

  #runAt(workspaceId: string, name: string, held: Held, at: number): void {
    clearTimeout(held.timer);
    const delay = Math.max(0, at - this.#options.clock.now()) * 1000;
    held.timer = setTimeout(() => void this.#renew(workspaceId, name, held), Math.min(delay, LONGEST_TIMER_MS)).unref();
  }

  /** Never rejects. */
  async #renew(workspaceId: string, name: string, held: Held): Promise<void> {
    if (held.isRunning || !held.command || this.#held.get(workspaceId)?.get(name) !== held) return;
    held.isRunning = true;
    if (this.#options.clock.now() - held.lastRunAt > CALM_SECONDS) held.runs = 0;
    held.runs++;
    try {
      await this.#fill(held, held.command);
      this.#schedule(workspaceId, name, held);
    } catch (error) {
      this.#options.log.warn("a token cannot be renewed", { workspaceId, reason: messageOf(error) });
      this.#failed(workspaceId, name, held, messageOf(error));
    } finally {
      held.isRunning = false;
    }
    if (this.#held.get(workspaceId)?.get(name) === held) this.onChanged(workspaceId);
  }

  /** One that has still some time is used on; for one that has none, requests are refused with the reason. */
  #failed(workspaceId: string, name: string, held: Held, reason: string): void {
    const now = this.#options.clock.now();
    if (held.expiresAt !== null && held.expiresAt > now) {
      this.#runAt(workspaceId, name, held, Math.min(now + pauseAfter(held.runs), held.expiresAt));
      return;
    }
    held.token = null;
    held.problem = reason;
  }

  async #fill(held: Held, command: readonly string[]): Promise<void> {
    const { clock, run = runTokenCommand } = this.#options;
    held.lastRunAt = clock.now();
    const { token, expiresInSeconds } = await run(command);
    held.token = token;
    held.problem = null;
    held.expiresAt = expiresInSeconds === null ? null : clock.now() + expiresInSeconds;
  }
}

const pauseAfter = (runs: number): number => Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (runs - 1));

const blank = (command: readonly string[] | null): Held => ({
  command,
  token: null,
  problem: null,
  expiresAt: null,
  lastRunAt: 0,
  runs: 0,
  isRunning: false,
  timer: undefined,
});

function givenToken(given: Readonly<Record<string, string>>, variable: string, host: string): string {
  const token = Object.hasOwn(given, variable) ? given[variable]?.trim() : undefined;
  // SECURITY: the name of the variable, and nothing of its value (G-55)
  if (token === undefined || token === "")
    throw failure(
      "TOKEN_UNAVAILABLE",
      `The variable ${variable} is not set, and the route to ${host} takes its token from it`,
      {
        hint: `Set ${variable} where you run cloche, and try again`,
      },
    );
  if (!isSendable(token))
    throw failure("TOKEN_UNAVAILABLE", `The variable ${variable} holds something that cannot be sent as a token`, {
      hint: `Set ${variable} to one line of plain characters`,
    });
  return token;
}
