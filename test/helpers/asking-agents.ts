import type { ExecResult } from "../../src/model/exec.ts";
import { BottledAgents } from "./bottled-agents.ts";
import type { Installation } from "./installation.ts";

/** What an agent hears of a call. */
export interface Heard {
  readonly status?: string;
  readonly reason?: string | null;
  readonly proposal_id?: string;
  readonly [name: string]: unknown;
}

/** Runs whose agents only wait, and what is asked for from their sandboxes at the supervise door. */
export class AskingAgents {
  readonly #at: Installation;
  readonly #agents: BottledAgents;
  #lastId = 0;

  constructor(at: Installation) {
    this.#at = at;
    this.#agents = new BottledAgents(at);
  }

  /** Starts a run under that agent's name; with a terminal when it is to be attached to. */
  async start(name: string, { script = "sleep 600", terminal = false, bottle = {} } = {}): Promise<string> {
    this.#agents.agent(name, script, { bottle: { supervise: true, ...bottle } });
    const size = terminal ? { headless: false, prompt: undefined, terminal: { cols: 80, rows: 24 } } : {};
    return (await this.#at.sdk.startRun(name, this.#agents.options(size))).identity;
  }

  /** Asks for a route to a host, and waits for the answer. */
  async askForRoute(identity: string, host: string, justification = "The build needs it."): Promise<Heard> {
    const params = { name: "egress-block", arguments: { routes: [{ host }], justification } };
    const message = JSON.stringify({ jsonrpc: "2.0", id: ++this.#lastId, method: "tools/call", params });
    const file = `/workspace/ask-${this.#lastId}.json`;
    await this.#at.sdk.writeWorkspaceFile(identity, file, { text: message });
    const url = "http://127.0.0.1:9100/mcp";
    const told: ExecResult = await this.#at.sdk.execWorkspace(identity, {
      command: `curl -sS --noproxy '*' --max-time 60 -H 'content-type: application/json' --data-binary @${file} ${url}`,
      timeout_seconds: 90,
    });
    const answer = JSON.parse(told.stdout) as { result?: { structuredContent?: Heard } };
    return answer.result?.structuredContent ?? { error: told.stdout };
  }
}
