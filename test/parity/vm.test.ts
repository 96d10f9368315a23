import { describeParity } from "./describe-parity.ts";

describeParity({ backend: "vm", environment: "debian:12", env: () => ({}) });
