import type { IncomingMessage, ServerResponse } from "node:http";

export function answerWithHttpBackend(folder: string, request: IncomingMessage, response: ServerResponse): void;
