import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["workspace", "sync", "push"],
  summary: "Copy a folder or archive of the host into a workspace",
  description: "A folder's contents go into the destination, an archive is unpacked there: all of it or nothing.",
  positionals: [
    WORKSPACE,
    { name: "HOST_PATH", description: "A folder, or a .tar, .tar.gz or .tgz archive", completes: "host-path" },
  ],
  options: {
    dest: { type: "string", value: "PATH", description: "A folder under /workspace (default: /workspace itself)" },
  },
  examples: ["cloche workspace sync push ws-4 ./fixtures --dest tests/fixtures", "cloche workspace sync push ws-4 ."],
  async run(context) {
    const client = await context.connect();
    const pushed = await client.pushWorkspaceSync(context.argument("ID"), context.argument("HOST_PATH"), {
      dest: context.values.dest,
      onProgress: context.onProgress,
    });
    const count = pushed.files === 1 ? "1 file" : `${pushed.files} files`;
    await context.print(pushed, () => `Wrote ${count} to ${escapeName(pushed.dest)}`);
    return 0;
  },
});
