import { mkdirSync } from "node:fs";
import { startRole } from "./starter.ts";

/**
 * Makes these folders, and asks the file system to put all that is made in them where nothing was removed lately: on ext4 it is made ten times as quickly then. Gives
 * what a file system says that could have done so and did not.
 */
export async function spreadFolders(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  let said = "";
  const { ended } = await startRole(["spread", ...folders], { onStatus: (text) => (said += text) });
  return (await ended) === 0 ? undefined : said.trim();
}
