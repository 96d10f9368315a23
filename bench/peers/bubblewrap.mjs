import { timeToReady } from "../timed-command.mjs";

/** The wall alone, with the namespaces that cloche uses: no daemon, no overlay, no guest program, no record. */
const ARGV = [
  "bwrap",
  "--unshare-user",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--uid",
  "1000",
  "--gid",
  "1000",
  "--clearenv",
  "--ro-bind",
  "/usr",
  "/usr",
  "--symlink",
  "usr/bin",
  "/bin",
  "--symlink",
  "usr/lib",
  "/lib",
  "--symlink",
  "usr/lib64",
  "/lib64",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--tmpfs",
  "/tmp",
  "/usr/bin/echo",
  "ready",
];

export const bubblewrapToFirstOutput = () => timeToReady(ARGV);
