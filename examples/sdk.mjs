// A failing test, repaired in a workspace: run it with `node examples/sdk.mjs` after `make build`.
import { Cloche } from "cloche";

const cloche = new Cloche();
const { workspace_id: id } = await cloche.createWorkspace({ seed_path: "examples/demo-project", name: "fix" });
try {
  const failing = await cloche.execWorkspace(id, { command: "sh test.sh", timeout_seconds: 60 });
  console.log(failing.stdout, `exit ${failing.exit_code}`);

  const { content } = await cloche.readWorkspaceFile(id, "slug.sh");
  await cloche.writeWorkspaceFile(id, "slug.sh", {
    text: content.replace("tr ' ' '-'", "tr -cs 'a-z0-9\\n' '-' | sed 's,-$,,'"),
  });

  for await (const event of cloche.streamWorkspace(id, { command: ["sh", "test.sh"] })) {
    if (event.type === "stdout") process.stdout.write(event.data);
    if (event.type === "exit") console.log(`exit ${event.exit_code}`);
  }

  const { patch } = await cloche.diffWorkspace(id);
  console.log(patch); // `git apply` takes it
} finally {
  await cloche.deleteWorkspace(id);
  await cloche.close();
}
