import type { DiskExported, FileContent, FileList, FileWritten } from "../model/files.ts";
import type { SnapshotDeleted, SnapshotList } from "../model/snapshot.ts";
import { bytesAsText, readPages } from "./file-bytes.ts";
import { resolveHostPath } from "./on-this-host.ts";
import type { CallOptions, DiskExportOptions, ListFilesOptions, ReadFileOptions, WriteFileOptions } from "./options.ts";
import { toOptions } from "./to-options.ts";
import type { WorkspaceCalls } from "./workspace-calls.ts";

/** `ws.files`. Paths are under `/workspace`, relative or absolute. */
export class WorkspaceFiles {
  readonly #calls: WorkspaceCalls;

  /** @internal */
  constructor(calls: WorkspaceCalls) {
    this.#calls = calls;
  }

  async read(path: string, options: ReadFileOptions = {}): Promise<FileContent> {
    return await this.#calls.ask("readWorkspaceFile", { path }, options);
  }

  /** The whole file byte for byte, or `max_bytes` of it from `offset` on, however large one answer may be. */
  async readBytes(path: string, options: Omit<ReadFileOptions, "encoding"> = {}): Promise<Uint8Array> {
    const pages: Buffer[] = [];
    const read = (page: ReadFileOptions) => this.read(path, page);
    for await (const page of readPages(read, options)) pages.push(page);
    return new Uint8Array(Buffer.concat(pages));
  }

  /** Text, or bytes as they are. Makes the folders on the way. */
  async write(
    path: string,
    content: string | Uint8Array | WriteFileOptions,
    options: Omit<WriteFileOptions, "text"> = {},
  ): Promise<FileWritten> {
    const given = content instanceof Uint8Array ? bytesAsText(content) : content;
    return await this.#calls.ask(
      "writeWorkspaceFile",
      { path },
      toOptions<WriteFileOptions, "text">("text", given, options),
    );
  }

  /** Of a folder; of `/workspace` unless one is given. */
  async list(path: string | ListFilesOptions = {}, options: Omit<ListFilesOptions, "path"> = {}): Promise<FileList> {
    return await this.#calls.ask("listWorkspaceFiles", {}, toOptions<ListFilesOptions, "path">("path", path, options));
  }
}

/** `ws.disk`: the files of a stopped workspace. */
export class WorkspaceDisk {
  readonly #calls: WorkspaceCalls;

  /** @internal */
  constructor(calls: WorkspaceCalls) {
    this.#calls = calls;
  }

  async read(path: string, options: ReadFileOptions = {}): Promise<FileContent> {
    return await this.#calls.ask("readWorkspaceDisk", { path }, options);
  }

  async list(path: string | ListFilesOptions = {}, options: Omit<ListFilesOptions, "path"> = {}): Promise<FileList> {
    return await this.#calls.ask("listWorkspaceDisk", {}, toOptions<ListFilesOptions, "path">("path", path, options));
  }

  /** All of them in one file of this host, which is not there yet. */
  async export(
    outputPath: string | DiskExportOptions,
    options: Omit<DiskExportOptions, "output_path"> = {},
  ): Promise<DiskExported> {
    const { output_path, ...rest } = toOptions<DiskExportOptions, "output_path">("output_path", outputPath, options);
    return await this.#calls.ask("exportWorkspaceDisk", { output_path: resolveHostPath(output_path) }, rest);
  }
}

/** `ws.snapshots`: those that there are. `ws.snapshot(name)` makes one. */
export class WorkspaceSnapshots {
  readonly #calls: WorkspaceCalls;

  /** @internal */
  constructor(calls: WorkspaceCalls) {
    this.#calls = calls;
  }

  /** `baseline`, the files of its creation, comes first. */
  async list(options: CallOptions = {}): Promise<SnapshotList> {
    return await this.#calls.ask("listSnapshots", {}, options);
  }

  async delete(name: string, options: CallOptions = {}): Promise<SnapshotDeleted> {
    return await this.#calls.ask("deleteSnapshot", { snapshot_name: name }, options);
  }
}
