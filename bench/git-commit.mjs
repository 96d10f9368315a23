import { timeCommand } from "./timed-command.mjs";

/**
 * Makes a folder a repository, with one commit of all that git would add.
 *
 * @param {string} project
 */
export async function commitAll(project) {
  const git = ["git", "-C", project, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"];
  await timeCommand([...git, "init", "--quiet"]);
  await timeCommand([...git, "add", "--all"]);
  await timeCommand([...git, "commit", "--quiet", "--message", "all"]);
}
