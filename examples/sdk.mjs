// A failing test, repaired in a workspace: run it with `node examples/sdk.mjs` after `make build`. In TypeScript, `await using` deletes the workspace.
import { Cloche } from "cloche";

const cloche = new Cloche();
const ws = await cloche.workspace({ seed_path: "examples/demo-project", name: "fix" });
try {
  const failing = await ws.exec("sh test.sh", { timeout_seconds: 60 });
  console.log(failing.stdout, `exit ${failing.exit_code}`);

  const { content } = await ws.files.read("slug.sh");
  await ws.files.write("slug.sh", content.replace("tr ' ' '-'", "tr -cs 'a-z0-9\\n' '-' | sed 's,-$,,'"));

  for await (const event of ws.stream(["sh", "test.sh"])) {
    if (event.type === "stdout") process.stdout.write(event.data);
    if (event.type === "exit") console.log(`exit ${event.exit_code}`);
  }

  const { patch } = await ws.diff();
  console.log(patch); // `git apply` takes it
} finally {
  await ws.delete();
  await cloche.close();
}
