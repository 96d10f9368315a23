import assert from "node:assert/strict";
import { scenarios } from "../scenario.ts";

export const REFUSAL_SCENARIOS = scenarios("what is declared", {
  "a backend or an environment that is not there is refused": async (at) => {
    assert.equal(await at.refusal(at.create({ backend: "no-such" })), "BACKEND_NOT_FOUND");
    assert.equal(await at.refusal(at.create({ environment: "no-such" })), "ENVIRONMENT_NOT_FOUND");
    assert.equal(await at.refusal(at.create({ seed_path: "/no/such" })), "SEED_NOT_FOUND");
  },
  "the environment of this host can be walled off": {
    needs: { capability: "host_folders", ask: (at) => at.create({ environment: "host" }) },
    run: async (at) => {
      assert.equal(await at.out(await at.create({ environment: "host" }), "cat README.md"), "# A project\n");
    },
  },
  "an OCI runtime that is not there is refused when the sandbox starts": {
    needs: { capability: "oci_runtime", ask: (at) => at.create({ oci_runtime: "runc" }) },
    run: async (at) => {
      const code = await at.refusal(at.create({ oci_runtime: "/no/such/runtime" }));
      assert.ok(["SANDBOX_START_FAILED", "BACKEND_UNAVAILABLE"].includes(code), code);
    },
  },
  "a packed machine that is not there is refused": {
    needs: {
      capability: "machine_files",
      ask: async (at) => {
        const folder = await at.folder({ "any.smolmachine": "packed" });
        return await at.create({ environment: `smolmachine:${folder}/any.smolmachine` });
      },
    },
    run: async (at) => {
      const missing = at.create({ environment: `smolmachine:${at.target.folder}/none.smolmachine` });
      assert.equal(await at.refusal(missing), "ENVIRONMENT_NOT_FOUND");
    },
  },
});
