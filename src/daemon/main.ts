import { compose } from "./compose.ts";
import { executeDaemon } from "./execute.ts";

await executeDaemon(process.argv.slice(2), compose);
