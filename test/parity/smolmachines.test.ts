import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";
import { describeParity } from "./describe-parity.ts";

const smolvm = new SmolvmStandIn();

describeParity({
  backend: "smolmachines",
  environment: "debian:12",
  env: () => smolvm.env,
  leftovers: async () => (await smolvm.machines()).map(({ name, state }) => `machine ${name} ${state}`),
  tearDown: () => smolvm.remove(),
});
