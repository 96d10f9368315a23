import { errnoOf } from "../base/errors.ts";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The lines of the host's own package sources that have a suite, so that an environment comes from the mirror that the host uses.
 * Empty when the host has none: then the tool's default mirror is used.
 */
export async function findAptSources(suite: string, apt = "/etc/apt"): Promise<string> {
  const folder = join(apt, "sources.list.d");
  const names = await readdir(folder).catch(ifMissing<string[]>([]));
  const files = [join(apt, "sources.list"), ...names.sort().map((name) => join(folder, name))];
  const parts: string[] = [];
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(ifMissing(""));
    if (file.endsWith(".list")) parts.push(...oneLineEntries(text, suite));
    else if (file.endsWith(".sources")) parts.push(...paragraphs(text, suite));
  }
  return parts.join("\n");
}

/** `deb [options] URI SUITE COMPONENT…` */
function oneLineEntries(text: string, suite: string): string[] {
  return text.split("\n").filter((line) => {
    const [type, , found] = line
      .trim()
      .replace(/\[[^\]]*\]\s*/, "")
      .split(/\s+/);
    return type === "deb" && isOfSuite(found ?? "", suite);
  });
}

/** The paragraphs of a `.sources` file, with only the suites asked for, as one-line entries: they can be mixed with others. */
function paragraphs(text: string, suite: string): string[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const fields = fieldsOf(paragraph);
    const words = (name: string) => (fields.get(name) ?? "").split(/\s+/).filter((word) => word !== "");
    if (!words("types").includes("deb") || fields.get("enabled")?.toLowerCase() === "no") return [];
    const signedBy = fields.get("signed-by");
    // A key inside the file has no place in a one-line entry; the tool finds Debian's own keys by itself.
    const options = signedBy?.startsWith("/") ? `[signed-by=${words("signed-by").join(",")}] ` : "";
    const suites = words("suites").filter((found) => isOfSuite(found, suite));
    return words("uris").flatMap((uri) =>
      suites.map((found) => `deb ${options}${uri} ${found} ${words("components").join(" ")}`),
    );
  });
}

function fieldsOf(paragraph: string): Map<string, string> {
  const fields = new Map<string, string>();
  let last = "";
  for (const line of paragraph.split("\n")) {
    if (line.startsWith("#")) continue;
    const field = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
    if (field) fields.set((last = (field[1] ?? "").toLowerCase()), (field[2] ?? "").trim());
    else if (/^\s/.test(line) && last !== "") fields.set(last, `${fields.get(last) ?? ""} ${line.trim()}`.trim());
  }
  return fields;
}

function isOfSuite(found: string, suite: string): boolean {
  return found === suite || [`${suite}-updates`, `${suite}-security`, `${suite}/updates`].includes(found);
}

function ifMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (["ENOENT", "EACCES"].includes(errnoOf(error) ?? "")) return fallback;
    throw error;
  };
}
