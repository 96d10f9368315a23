import ts from "typescript-api";
import type { OpenProgram } from "./packed-types.ts";

const FLAGS: ts.TypeFormatFlags =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.InTypeAlias |
  ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType;
/** Beyond this a union is written line by line. */
const WIDTH = 120;

/**
 * Every name that a module exports, with what can be done with it: members line by line, types as the compiler understands them. `values` are the names that
 * are there at run time too. What is called `internal.Name` is in a signature and cannot be named by whoever uses it.
 */
export function describeModule(program: OpenProgram, file: string, values: ReadonlySet<string>): string {
  const surface = new Surface(program.checker, program.source(file));
  return surface
    .exports()
    .flatMap((symbol) => surface.describe(symbol, values.has(symbol.name)))
    .join("\n")
    .replace(/import\("cloche[\w/]*"\)\./g, "")
    .replace(/import\("[^"]*\/cloche\/dist\/[^"]*"\)\./g, "internal.");
}

class Surface {
  readonly #checker: ts.TypeChecker;
  readonly #at: ts.SourceFile;

  constructor(checker: ts.TypeChecker, at: ts.SourceFile) {
    this.#checker = checker;
    this.#at = at;
  }

  exports(): ts.Symbol[] {
    const module = this.#checker.getSymbolAtLocation(this.#at);
    if (!module) throw new Error(`${this.#at.fileName} is no module`);
    return this.#checker.getExportsOfModule(module).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  describe(exported: ts.Symbol, isValue: boolean): string[] {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? this.#checker.getAliasedSymbol(exported) : exported;
    if (symbol.flags & ts.SymbolFlags.Class) return this.#describeClass(exported.name, symbol, isValue);
    return [
      ...(isValue ? this.#describeValue(exported.name, symbol) : []),
      ...(symbol.flags & ts.SymbolFlags.Type ? this.#describeType(exported.name, symbol) : []),
    ];
  }

  #describeClass(name: string, symbol: ts.Symbol, isValue: boolean): string[] {
    const made = this.#checker.getTypeOfSymbol(symbol);
    const signatures = made.getConstructSignatures().map((one) => `  new ${this.#signature(one)}`);
    const statics = this.#members(made).map((line) => line.replace(/^ {2}/, "  static "));
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const title = `class ${name}${this.#bases(type)}`;
    return [title, ...(isValue ? [...signatures, ...statics] : []), ...this.#members(type)];
  }

  #describeValue(name: string, symbol: ts.Symbol): string[] {
    const type = this.#checker.getTypeOfSymbolAtLocation(symbol, this.#at);
    const calls = type.getCallSignatures().map((one) => `function ${name}${this.#signature(one)}`);
    if (calls.length > 0) return calls;
    const text = this.#text(type);
    return text.length <= WIDTH ? [`const ${name}: ${text}`] : [`const ${name}`, ...this.#members(type)];
  }

  #describeType(name: string, symbol: ts.Symbol): string[] {
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const parameters = (type.aliasTypeArguments ?? []).map((one) => this.#text(one));
    const title = `type ${name}${parameters.length > 0 ? `<${parameters.join(", ")}>` : ""}`;
    const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
    const members = isObject && type.getCallSignatures().length === 0 ? this.#members(type) : [];
    if (members.length > 0) return [`${title}${this.#bases(type)}`, ...members];
    const text = this.#text(type);
    if (!type.isUnion() || text.length <= WIDTH) return [`${title} = ${text}`];
    return [title, ...type.types.map((one) => `  | ${this.#text(one)}`).toSorted()];
  }

  #bases(type: ts.Type): string {
    const bases = type.isClassOrInterface() ? this.#checker.getBaseTypes(type) : [];
    return bases.length > 0 ? ` extends ${bases.map((one) => this.#text(one)).join(", ")}` : "";
  }

  /** Without what comes from the language's own libraries. */
  #members(type: ts.Type): string[] {
    const own = this.#checker.getPropertiesOfType(type).filter(({ name, declarations = [] }) => {
      const isForeign = (one: ts.Declaration) =>
        /\/node_modules\/(typescript|typescript-api|@types)\//.test(one.getSourceFile().fileName);
      const isPrivate = declarations.some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private);
      return !isPrivate && !name.includes("#private") && name !== "prototype" && !declarations.every(isForeign);
    });
    return own.map((one) => `  ${this.#member(one)}`).toSorted();
  }

  #member(symbol: ts.Symbol): string {
    const optional = symbol.flags & ts.SymbolFlags.Optional ? "?" : "";
    const name = `${symbol.name.replace(/^__@(\w+)@.*$/, "[$1]")}${optional}`;
    const type = this.#checker.getTypeOfSymbolAtLocation(symbol, this.#at);
    const calls = symbol.flags & ts.SymbolFlags.Method ? type.getCallSignatures() : [];
    if (calls.length > 0) return calls.map((one) => `${name}${this.#signature(one)}`).join("; ");
    return `${name}: ${this.#text(type)}`;
  }

  #signature(signature: ts.Signature): string {
    return inOrder(this.#checker.signatureToString(signature, this.#at, FLAGS));
  }

  #text(type: ts.Type): string {
    return inOrder(this.#checker.typeToString(type, this.#at, FLAGS));
  }
}

/** The compiler writes the texts of a union in the order in which it met them first, which differs between a build of everything and one of what changed. */
const inOrder = (text: string): string =>
  text.replace(/'[^']*'(?: \| '[^']*')+/g, (union) => union.split(" | ").toSorted().join(" | "));
