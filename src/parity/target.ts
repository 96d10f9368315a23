import type { Cloche } from "../sdk/cloche.ts";

/** A backend to be compared, and what the comparison needs around it. */
export interface ParityTarget {
  /** Its name, as `createWorkspace({ backend })` takes it. */
  readonly backend: string;
  /** Of an installation of its own: the daemon is killed, and no other workspace may be there. */
  readonly client: Cloche;
  /** An environment that it can wall off, with a POSIX shell, coreutils and Perl. */
  readonly environment: string;
  /** An empty folder of this host, for files that go in and come out. */
  readonly folder: string;
  /** Another backend of the same installation, to move workspaces from and to. */
  readonly other: { readonly backend: string; readonly environment: string };
  /** One line for each thing on this host that a sandbox of the installation is made of: processes, containers, machines, mounts. */
  leftovers(): Promise<readonly string[]>;
}
