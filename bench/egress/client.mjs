/**
 * Sends requests through a proxy, on a number of connections that stay open, and prints what it took as JSON. Its argument is JSON:
 * `{ proxy: port, ca, host, connections, requests, size, path, repeat, drop }`. Without a proxy it goes to `direct` itself; `repeat` sends the body so many times in one request;
 * `drop` opens that many connections besides, some at a time, and drops them: each second one in its tunnel, the others after the handshake.
 */
import { Buffer } from "node:buffer";
import { request } from "node:http";
import { connect as connectTcp } from "node:net";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { connect } from "node:tls";

const {
  proxy,
  direct,
  ca,
  host,
  connections,
  requests,
  size,
  path,
  repeat = 1,
  drop = 0,
} = JSON.parse(process.argv[2] ?? "{}");
/** Text as agents send it. */
const words = "The quick brown fox reads a file, edits it, runs the tests and says what it saw. ";
const body = Buffer.from(
  JSON.stringify({
    model: "m",
    messages: [
      { role: "user", content: words.repeat(Math.ceil(size / words.length)).slice(0, Math.max(0, size - 60)) },
    ],
  }),
);

/** @returns {Promise<import("node:net").Socket>} */
function tunnel() {
  return new Promise((done, fail) => {
    const socket = connectTcp(proxy ?? direct, "127.0.0.1");
    socket.setNoDelay(true);
    socket.once("error", fail);
    if (proxy === undefined) return done(socket);
    socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
    socket.once("data", () => done(socket));
  });
}

/** @type {number[]} */
const times = [];
/** @type {number[]} */
const firsts = [];
let left = requests;

/** As fast as it is taken. @param {import("node:http").ClientRequest} own @param {number} more */
function send(own, more) {
  if (more === 1) return void own.end(body);
  if (own.write(body)) send(own, more - 1);
  else own.once("drain", () => send(own, more - 1));
}

async function one() {
  const socket = connect({ socket: await tunnel(), servername: host, ca: [ca] });
  await new Promise((done, fail) => socket.once("secureConnect", done).once("error", fail));
  socket.setMaxListeners(0);
  while (left-- > 0) {
    const start = performance.now();
    await new Promise((done, fail) => {
      const own = request({
        createConnection: () => socket,
        method: "POST",
        path,
        headers: {
          host,
          connection: "keep-alive",
          "content-type": "application/json",
          "content-length": repeat * body.length,
        },
      });
      own.once("error", fail);
      own.once("response", (response) => {
        if (response.statusCode !== 200) fail(new Error(`status ${response.statusCode}`));
        response.once("data", () => firsts.push(performance.now() - start));
        response.resume();
        response.once("end", () => done(undefined));
      });
      send(own, repeat);
    });
    times.push(performance.now() - start);
  }
  socket.destroy();
}

async function dropOne(/** @type {number} */ number) {
  const socket = await tunnel();
  if (number % 2 === 0) return void socket.destroy();
  const secure = connect({ socket, servername: host, ca: [ca] });
  await new Promise((done, fail) => secure.once("secureConnect", done).once("error", fail));
  socket.destroy();
}

const began = performance.now();
for (let done = 0; done < drop; done += 50)
  await Promise.all(Array.from({ length: Math.min(50, drop - done) }, (_, at) => dropOne(done + at)));
await Promise.all(Array.from({ length: connections }, one));
const seconds = (performance.now() - began) / 1000;
process.stdout.write(JSON.stringify({ times, firsts, seconds }));
