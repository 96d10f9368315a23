import ts from "typescript-api";

export interface SourceImport {
  /** As written. */
  readonly specifier: string;
  /** Gone after compilation. */
  readonly typeOnly: boolean;
  /** By `import()`, when the code gets there. */
  readonly onDemand: boolean;
  readonly line: number;
}

export function parseSource(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
}

/** Every module that a file names: `import`, `import type`, `export from`, `import()` and types written as `import("x").T`. */
export function findImports(file: string, text: string): SourceImport[] {
  const source = parseSource(file, text);
  const found: SourceImport[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean, onDemand = false) => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    found.push({
      specifier: node.text,
      typeOnly,
      onDemand,
      line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false, true);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Every text in quotes, comments left out; a template's pieces are joined with a blank. */
export function findStrings(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    if (ts.isTemplateExpression(node)) {
      found.push([node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(" "));
    }
    ts.forEachChild(node, visit);
  };
  visit(parseSource(file, text));
  return found;
}
