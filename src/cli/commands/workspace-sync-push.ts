import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { INCLUDE_OPTIONS, includeInput } from "../arguments/include-options.ts";
import { noteLeftOut } from "../results/left-out-notes.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["workspace", "sync", "push"],
  summary: "Copy a folder, archive or file of the host into a workspace",
  description:
    "A folder's contents go into the destination, an archive is unpacked there, any other file gets there under its own name: all of it or nothing. What git ignores stays at home.",
  positionals: [
    WORKSPACE,
    {
      name: "HOST_PATH",
      description: "A folder, a .tar, .tar.gz or .tgz archive, or any other file",
      completes: "host-path",
    },
  ],
  options: {
    ...INCLUDE_OPTIONS,
    dest: { type: "string", value: "PATH", description: "A folder under /workspace (default: /workspace itself)" },
  },
  examples: [
    "cloche workspace sync push ws-4 ./fixtures --dest tests/fixtures",
    "cloche workspace sync push ws-4 .",
    "cloche workspace sync push ws-4 settings.json --dest config",
  ],
  async run(context) {
    const client = await context.connect();
    const pushed = await client.pushWorkspaceSync(context.argument("ID"), context.argument("HOST_PATH"), {
      dest: context.values.dest,
      ...includeInput(context.values),
      onProgress: context.onProgress,
    });
    const count = pushed.files === 1 ? "1 file" : `${pushed.files} files`;
    await context.print(pushed, () => `Wrote ${count} to ${escapeName(pushed.dest)}`);
    if (pushed.left_out) noteLeftOut(context, pushed.left_out, false);
    return 0;
  },
});
