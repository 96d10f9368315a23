/** The server behind both proxies: answers a POST with a few bytes, `/sse` with 200 events, `/much` with many bytes. Prints its port. */
import { Buffer } from "node:buffer";
import { createServer } from "node:https";
import process from "node:process";

const [key, cert] = (process.env["UPSTREAM_KEYS"] ?? "").split("|");
const CHUNK = Buffer.alloc(64 * 1024, "lorem ipsum dolor sit amet ");
const MUCH = 200 * 1024 * 1024;

const server = createServer({ key, cert }, (request, response) => {
  request.on("data", () => undefined);
  request.on("end", () => {
    if (request.url === "/sse") return void events(response);
    if (request.url === "/much") return much(response);
    response.end("thanks\n");
  });
});

/** @param {import("node:http").ServerResponse} response */
function events(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let count = 0; count < 200; count++)
    response.write(`data: {"type":"content_block_delta","delta":{"text":"word ${count} "}}\n\n`);
  response.end();
}

/** @param {import("node:http").ServerResponse} response */
function much(response) {
  response.writeHead(200, { "content-length": MUCH });
  let left = MUCH;
  const more = () => {
    while (left > 0) {
      left -= CHUNK.length;
      if (!response.write(CHUNK)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
