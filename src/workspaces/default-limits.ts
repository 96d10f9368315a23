import type { Backend, PrepareOptions, WallLimits } from "../contracts/backend.ts";
import type { Config } from "../model/config.ts";
import { shareOfHost, type HostSize } from "./host-size.ts";

/** What a compiler or a test run of a large project was seen to want. */
const WORK_MIB = 4096;
/** A larger machine is slower to make and to save, and few need one. */
const MAX_MACHINE_MIB = 8192;
const PIDS = { least: 512, most: 2048, perProcessor: 128 } as const;

/** What a workspace may use when nobody says: as `config.yaml` has it, else what lets real work run as fast as on the host. */
export async function defaultLimits(
  backend: Pick<Backend, "isMachine" | "isEmulated">,
  { limits }: Pick<Config, "limits">,
  options: PrepareOptions = {},
  host: HostSize = shareOfHost(),
): Promise<WallLimits> {
  const processors = async () => ((await backend.isEmulated?.(options)) === true ? 1 : host.processors);
  return {
    vcpuCount: limits?.vcpu_count ?? (await processors()),
    memMib: limits?.mem_mib ?? (backend.isMachine === true ? machineMib(host) : processMib(host)),
    // A test run starts some workers for each processor, and each of them has a dozen threads.
    pids: limits?.pids ?? Math.min(PIDS.most, Math.max(PIDS.least, host.processors * PIDS.perProcessor)),
    diskMib: undefined,
  };
}

/** Of processes of this host. It is a limit and takes nothing: a hundred workspaces share the host's memory by what they use. */
const processMib = ({ memMib }: HostSize): number => Math.max(Math.floor(memMib / 2), Math.min(WORK_MIB, memMib));

/** A machine keeps what it has ever touched, its cache of files too, so it gets less. */
const machineMib = ({ memMib }: HostSize): number =>
  Math.min(MAX_MACHINE_MIB, Math.max(Math.floor(memMib / 8), Math.min(WORK_MIB, Math.floor(memMib / 2))));
