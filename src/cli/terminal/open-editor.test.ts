import { expect, it } from "vitest";
import { openEditor } from "./open-editor.ts";

const open = (editor: string) => openEditor({ env: { ...process.env, VISUAL: editor } }, "/dev/null");

it("says of an editor that failed that its file was not checked, and of one that is missing to set another", async () => {
  await open("true");
  await expect(open("false")).rejects.toMatchObject({
    message: 'The editor "false" ended with 1',
    hint: "What it saved is in the file, and was not checked: run the command again",
  });
  await expect(open("/nonexistent/editor 2>/dev/null")).rejects.toMatchObject({
    hint: "Set EDITOR to one that is there",
  });
});
