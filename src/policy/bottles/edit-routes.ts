import { type Document, isSeq, type Node, parseDocument, visit, type YAMLSeq } from "yaml";
import type { Route } from "../../model/egress.ts";
import { canonicalJson } from "../supervise/content-hash.ts";

const FRONT_MATTER = /^(\uFEFF?---[^\n]*\n)([\s\S]*?)(^---[\s\S]*)$/m;

/** The text of a bottle with other routes in it. All else stays as it was written, comments too; a route that is not the same is written anew. */
export function editRoutes(file: string, routes: readonly Route[]): string {
  const [, start = "", yaml = "", end = ""] = FRONT_MATTER.exec(file) ?? [];
  const document: Document = parseDocument(yaml);
  const list = document.getIn(["egress", "routes"]);
  if (isSeq(list)) list.items = items(document, list as YAMLSeq<Node>, routes);
  else document.setIn(["egress", "routes"], document.createNode(routes));
  return `${start}${document.toString({ lineWidth: 0, flowCollectionPadding: isPadded(document, yaml) })}${end}`;
}

/** Whether what is between braces and brackets has a space before and after it, as the file was written. */
function isPadded(document: Document, yaml: string): boolean {
  let padded = true;
  visit(document, {
    Collection(_, { flow, items: { length }, range }) {
      if (!flow || !length || !range) return undefined;
      padded = /\s/.test(yaml.charAt(range[0] + 1));
      return visit.BREAK;
    },
  });
  return padded;
}

function items(document: Document, list: YAMLSeq<Node>, routes: readonly Route[]): Node[] {
  const written = new Map(list.items.map((node) => [canonicalJson(node.toJS(document)), node]));
  return routes.map((route) => written.get(canonicalJson(route)) ?? document.createNode(route));
}
