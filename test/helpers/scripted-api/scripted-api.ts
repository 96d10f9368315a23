import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Script, ScriptedModel, wireAt } from "./scripted-model.ts";

/** A model's API on loopback that plays a script. */
export class ScriptedApi implements AsyncDisposable {
  readonly model: ScriptedModel;
  readonly #server: Server;

  private constructor(script: Script) {
    this.model = new ScriptedModel(script);
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.model.problems.push(String(error));
        response.destroy();
      });
    });
  }

  static async start(script: Script): Promise<ScriptedApi> {
    const api = new ScriptedApi(script);
    await new Promise<void>((done, fail) => api.#server.once("error", fail).listen(0, "127.0.0.1", done));
    return api;
  }

  /** Without a path: `http://127.0.0.1:PORT`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === "POST" ? await json(request) : undefined;
    answerModel(this.model, { path: request.url ?? "/", body }, response);
  }
}

/** Answers one request of an agent, with a stream of events; what is no request to a model is not found. `body` is undefined for what is no POST. */
export function answerModel(
  model: ScriptedModel,
  { path, body }: { readonly path: string; readonly body: unknown },
  response: Pick<ServerResponse, "writeHead" | "write" | "end">,
): void {
  const wire = body === undefined ? undefined : wireAt(new URL(path, "http://model").pathname);
  if (wire === undefined) {
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"error": {"message": "not scripted"}}');
    return;
  }
  const events = model.answer(wire, wire.read(body));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const [event, data] of events)
    response.write(`${event === null ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  response.end();
}
