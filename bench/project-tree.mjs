import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PROJECT_FILES = 50_000;
const FOLDERS = 500;
const FILES_PER_FOLDER = PROJECT_FILES / FOLDERS;

/** @param {number} folder @param {number} file */
const pathOf = (folder, file) => join(`package-${folder % 25}`, `part-${folder}`, `file-${file}.txt`);

/**
 * A project of that many small files on the host. It is written once for all rows of a run, and only read: it goes with the folder of the run.
 *
 * @param {string} directory @param {(text: string) => void} say
 */
export function largeProject(directory, say) {
  const project = join(directory, "large-project");
  if (existsSync(project)) return project;
  say(`writing a project of ${PROJECT_FILES} files`);
  writeProject(project);
  return project;
}

/** @param {string} project */
function writeProject(project) {
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(project, pathOf(folder, 0), ".."), { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file++)
      writeFileSync(join(project, pathOf(folder, file)), `${folder} ${file}\n`.repeat(8));
  }
}

/** The first files of the project, spread over its folders; relative to it. @param {number} count */
export const someFiles = (count) =>
  Array.from({ length: count }, (_, i) => pathOf((i * 49) % FOLDERS, Math.floor(i / FOLDERS) % FILES_PER_FOLDER));
