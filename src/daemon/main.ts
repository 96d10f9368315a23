import { fileURLToPath } from "node:url";
import { compose } from "./compose.ts";
import { executeDaemon } from "./execute.ts";

// Known as a file to run, not as a module: what serves MCP stands above the client, which stands above the daemon.
const mcpProgram = fileURLToPath(new URL("../mcp/http-main.js", import.meta.url));

await executeDaemon(process.argv.slice(2), compose, { mcpProgram });
