/** Serves every repository of a folder with `git http-backend`, as a forge does. Its argument is the folder; prints its port. */
import { createServer } from "node:http";
import process from "node:process";
import { answerWithHttpBackend } from "../../test/helpers/git-http-backend.mjs";

const [folder = "."] = process.argv.slice(2);
const server = createServer((request, response) => answerWithHttpBackend(folder, request, response));

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" && address ? address.port : 0}\n`);
});
