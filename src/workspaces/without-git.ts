/**
 * What comes out of a sandbox without any `.git`.
 * SECURITY: git, and every editor that asks it about a folder, runs what a repository's own configuration and hooks say (G-23)
 */
export async function* withoutGit<Item extends { readonly pathBytes: Buffer }>(
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  for await (const item of items) {
    const names = item.pathBytes.toString("latin1").toLowerCase().split("/");
    if (!names.includes(".git")) yield item;
  }
}
