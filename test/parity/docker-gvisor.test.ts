import { DockerEngine } from "../helpers/docker-engine.ts";
import { describeParity } from "./describe-parity.ts";

let engine: DockerEngine;

describeParity({
  backend: "docker",
  column: "docker-gvisor",
  environment: "debian:12",
  env: async () => {
    engine = await DockerEngine.start();
    return { ...engine.env, CLOCHE_OCI_RUNTIME: "runsc" };
  },
  leftovers: () => engine.leftovers(),
  tearDown: () => engine[Symbol.asyncDispose](),
  // Of the runsc of 2022 that Debian 12 has; each reason is in docs/limitations.md.
  leftOut: [
    // `ls` and `stat` get EINVAL
    "a workspace that is stopped has its files, and nothing that runs",
    "a workspace starts with the project, which belongs to its user",
    "a file that is written is read again, by a call and by a command",
    "a folder of the host is pushed in, all of it",
    "a reset to the baseline brings the project back, and ends what ran",
    "a reset to a snapshot brings everything back as it was",
    "snapshots stand on snapshots",
    "a fork has the files of the moment, and goes its own way",
    // terminals make no signals
    "a terminal has its size, changes it, and takes keys",
    "Ctrl-C on a terminal interrupts what runs there",
    "a signal interrupts what runs in a shell, which goes on",
    // what has lost its parent is the first process's
    "a time-out ends a command and all that it started",
    // who meets a limit is gVisor itself, and the sandbox ends
    "a command that eats memory is ended, and the sandbox goes on",
    "processes without end are stopped, and the sandbox goes on",
  ],
});
