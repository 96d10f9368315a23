/** What the stub of an engine reads of the body of `POST /containers/create`. */
export interface ContainerBody {
  readonly Image: string;
  readonly Hostname: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  /** Not given for one that never runs. */
  readonly HostConfig?: {
    readonly CapAdd: readonly string[];
    readonly SecurityOpt: readonly string[];
    readonly MaskedPaths: readonly string[];
    readonly ReadonlyPaths: readonly string[];
    readonly ShmSize: number;
    readonly Tmpfs: Readonly<Record<string, string>>;
    readonly Mounts: readonly Mount[];
  };
}

/** A folder of the host, or a volume that is a file system of its own and holds no files. */
type Mount = { readonly Target: string; readonly Source: string; readonly ReadOnly: boolean } & (
  | { readonly Type: "bind" }
  | {
      readonly Type: "volume";
      readonly VolumeOptions: {
        readonly Labels: Readonly<Record<string, string>>;
        readonly DriverConfig: { readonly Options: { readonly type: string; readonly o: string } };
      };
    }
);

interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

const NAMESPACES = ["pid", "network", "ipc", "uts", "mount", "cgroup"];

/** The same container for an OCI runtime, as its `config.json`. There are no cgroups, and no filter of system calls. */
export function stubContainerConfig({ Hostname, Entrypoint, Cmd, HostConfig }: ContainerBody, root: string): object {
  if (!HostConfig) throw new Error("the stub runs no container without a HostConfig");
  const capabilities = HostConfig.CapAdd.map((name) => `CAP_${name}`);
  return {
    ociVersion: "1.0.2",
    hostname: Hostname,
    root: { path: root, readonly: false },
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      cwd: "/",
      env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
      args: [...Entrypoint, ...Cmd],
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: HostConfig.SecurityOpt.includes("no-new-privileges"),
    },
    mounts: mounts(HostConfig),
    linux: {
      namespaces: NAMESPACES.map((type) => ({ type })),
      maskedPaths: HostConfig.MaskedPaths,
      readonlyPaths: HostConfig.ReadonlyPaths,
    },
  };
}

/** The deepest last, as an engine does it. */
function mounts({ ShmSize, Tmpfs, Mounts }: NonNullable<ContainerBody["HostConfig"]>): OciMount[] {
  const depth = ({ destination }: OciMount): number => destination.split("/").length;
  return [
    mount("proc", "/proc", "nosuid,nodev,noexec"),
    mount("tmpfs", "/dev", "nosuid,mode=755,size=64k"),
    mount("tmpfs", "/dev/shm", `nosuid,nodev,noexec,mode=1777,size=${ShmSize}`),
    ...Object.entries(Tmpfs).map(([target, options]) => mount("tmpfs", target, options)),
    ...Mounts.map(asked),
  ].sort((one, other) => depth(one) - depth(other));
}

function asked(one: Mount): OciMount {
  const writable = one.ReadOnly ? "ro" : "rw";
  if (one.Type === "bind") return mount("bind", one.Target, `rbind,rprivate,${writable}`, one.Source);
  const { type, o } = one.VolumeOptions.DriverConfig.Options;
  return mount(type, one.Target, `${o},${writable}`);
}

const mount = (type: string, destination: string, options: string, source = type): OciMount => ({
  ...{ destination, type, source },
  options: options.split(","),
});
