/** The thread that renders terminals, one request after the other; started by `plain-renderer.ts`. */
import { parentPort } from "node:worker_threads";
import { renderPlain, type PlainRequest } from "./render-plain.ts";

parentPort?.on("message", (request: PlainRequest) => {
  void renderPlain(request).then((text) => parentPort?.postMessage(text));
});
