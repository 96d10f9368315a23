import { dirname, join, normalize } from "node:path";

export interface Place {
  readonly text: string;
  readonly line: number;
}

interface Fence extends Place {
  readonly language: string;
}

const FENCE = /^(```+|~~~+)(\w*)[^\n]*\n([\s\S]*?)^\1\s*$/gm;

/** A page without its fenced blocks; the lines stay where they are. */
const withoutFences = (page: string): string => page.replace(FENCE, (block) => block.replace(/[^\n]/g, ""));

export function findFences(page: string): Fence[] {
  return [...page.matchAll(FENCE)].map((match) => ({
    language: match[2] ?? "",
    text: match[3] ?? "",
    line: lineAt(page, match.index) + 1,
  }));
}

/** Texts between single backticks, outside of fenced blocks. */
export function findCodeSpans(page: string): Place[] {
  const prose = withoutFences(page);
  return [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => ({
    text: match[1] ?? "",
    line: lineAt(prose, match.index),
  }));
}

/** Targets of links and images, `[text](target)` and `[name]: target`, outside of code. */
export function findLinks(page: string): Place[] {
  const prose = withoutFences(page).replace(/`[^`\n]*`/g, (span) => " ".repeat(span.length));
  const links = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g), ...prose.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  return links.map((match) => ({ text: match[1] ?? "", line: lineAt(prose, match.index) }));
}

/** The anchors that a page's headings have, made as GitHub makes them. */
export function findAnchors(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, title = ""] of withoutFences(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
    const anchor = plain
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .replace(/ /g, "-");
    let name = anchor;
    for (let count = 1; anchors.has(name); count++) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** A link as a file of the project and an anchor there; undefined for one that leads elsewhere. */
export function resolveLink(page: string, link: string): { file: string; anchor: string } | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
  const [path = "", anchor = ""] = link.split("#");
  const file =
    path === "" ? page : normalize(path.startsWith("/") ? path.slice(1) : join(dirname(page), decodeURI(path)));
  return { file: file.replace(/\/$/, ""), anchor };
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;
