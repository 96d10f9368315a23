import { describeParity } from "./describe-parity.ts";

describeParity({ backend: "container", environment: "debian:12", env: () => ({}) });
