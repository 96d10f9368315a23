import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript-api";
import { runProcess } from "../helpers/installation.ts";
import { PackedPackage } from "../helpers/packed-package.ts";
import { ROOT } from "./project-files.ts";

/** What whoever is most careful compiles a program with. */
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
};

/** A folder of somebody who has installed the packed package, and the compiler on programs in it. */
export class PackedTypes implements AsyncDisposable {
  readonly #packed: PackedPackage;
  readonly #folder: string;
  readonly #sources = new Map<string, ts.SourceFile>();

  private constructor(packed: PackedPackage, folder: string) {
    this.#packed = packed;
    this.#folder = folder;
  }

  static async make(): Promise<PackedTypes> {
    const packed = await PackedPackage.make();
    const folder = join(packed.folder, "project");
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "cloche"), { recursive: true });
    const argv = [
      "--extract",
      "--file",
      packed.archive,
      "--strip-components=1",
      "--directory",
      join(modules, "cloche"),
    ];
    const { code, stderr } = await runProcess("tar", argv);
    if (code !== 0) throw new Error(stderr);
    // What it depends on is what it was built with.
    for (const name of readdirSync(join(ROOT, "node_modules")).filter((one) => !one.startsWith(".")))
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    return new PackedTypes(packed, folder);
  }

  /** Opens a program of these files, by their names. */
  open(files: Readonly<Record<string, string>>): OpenProgram {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#folder, name), text);
    writeFileSync(join(this.#folder, "package.json"), JSON.stringify({ type: "module" }));
    const names = Object.keys(files).map((name) => join(this.#folder, name));
    const host = ts.createCompilerHost(OPTIONS);
    host.getCurrentDirectory = () => this.#folder;
    // What was read for one program is there for the next.
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) => {
      if (!name.includes("/node_modules/")) return read(name, ...rest);
      const source = this.#sources.get(name) ?? read(name, ...rest);
      if (source) this.#sources.set(name, source);
      return source;
    };
    const program = ts.createProgram(names, OPTIONS, host);
    return new OpenProgram(program, this.#folder);
  }

  /** The names that a module of the package has at run time. */
  async valuesOf(name: string): Promise<ReadonlySet<string>> {
    const program = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(name)}))))`;
    const argv = ["--input-type=module", "--eval", program];
    const { code, stdout, stderr } = await runProcess(process.execPath, argv, { cwd: this.#folder });
    if (code !== 0) throw new Error(stderr);
    return new Set(JSON.parse(stdout) as string[]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#packed[Symbol.asyncDispose]();
  }
}

export class OpenProgram {
  readonly checker: ts.TypeChecker;
  readonly #program: ts.Program;
  readonly #folder: string;

  constructor(program: ts.Program, folder: string) {
    this.#program = program;
    this.#folder = folder;
    this.checker = program.getTypeChecker();
  }

  source(name: string): ts.SourceFile {
    const source = this.#program.getSourceFile(join(this.#folder, name));
    if (!source) throw new Error(`There is no file ${name} in the program`);
    return source;
  }

  /** What is wrong in the files of the program itself, and in the declarations of the package that they use. */
  problems(): string[] {
    const own = this.#program
      .getSourceFiles()
      .filter(({ fileName }) => fileName.startsWith(this.#folder) && !/node_modules\/(?!cloche\/)/.test(fileName));
    return own.flatMap((file) =>
      [...this.#program.getSyntacticDiagnostics(file), ...this.#program.getSemanticDiagnostics(file)].map(
        ({ messageText, start = 0 }) => {
          const { line } = file.getLineAndCharacterOfPosition(start);
          const place = `${file.fileName.slice(this.#folder.length + 1)}:${line + 1}`;
          return `${place} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
        },
      ),
    );
  }
}
