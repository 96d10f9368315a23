import assert from "node:assert/strict";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

type Place = ParityContext["target"]["other"];

const CHANGE =
  "echo new > new; echo more >> src/main.txt; rm README.md; mkdir -m 700 closed; echo x > closed/x; chmod 0 closed/x; ln -s new link; rm run.sh; mkdir run.sh; chmod 750 src";
const DESCRIBE =
  "find . | sort | while read -r f; do stat -c '%n %F %a %U' \"$f\"; done; cat new src/main.txt; readlink link";
const SECRETS = [{ name: "TOKEN", value: "tok-moved-0123456789" }];

/** A workspace that has been changed, saved and changed again in one place, and what it becomes in another. */
async function move(at: ParityContext, from: Place, to: Place): Promise<void> {
  const limits = { mem_mib: 512, vcpu_count: 1 };
  const id = await at.create({ ...from, name: "traveller", labels: { team: "a" }, secrets: SECRETS, ...limits });
  await at.out(id, "echo first > first");
  await at.client.createSnapshot(id, "one");
  await at.client.resetWorkspace(id, { snapshot: "one" });
  await at.out(id, `${CHANGE}; rm first`);
  const [files, diff] = [await at.out(id, DESCRIBE), await at.client.diffWorkspace(id)];
  const moved = await at.client.createWorkspace({ from_workspace: id, ...to });
  at.keep(moved.workspace_id);
  assert.deepEqual(
    [moved.backend, moved.environment, moved.name, moved.labels, moved.mem_mib, moved.vcpu_count],
    [to.backend, to.environment, "traveller", { team: "a" }, 512, 1],
  );
  assert.equal(await at.out(moved.workspace_id, DESCRIBE), files);
  assert.equal((await at.client.diffWorkspace(moved.workspace_id)).patch, diff.patch);
  assert.equal(await at.out(moved.workspace_id, 'echo "$T"', { secret_env: { TOKEN: "T" } }), "[REDACTED]\n");
  assert.equal(await at.out(id, DESCRIBE), files, "the one that it was made from stays as it is");
  await at.client.deleteWorkspace(id);
  await at.client.resetWorkspace(moved.workspace_id);
  assert.equal(await at.out(moved.workspace_id, "cat README.md run.sh"), "# A project\necho ran\n");
}

const here = ({ target: { backend, environment } }: ParityContext): Place => ({ backend, environment });

export const MOVING_SCENARIOS = scenarios("moving", {
  "a workspace of another backend moves here, with files, baseline, name, labels and secrets": async (at) => {
    await move(at, at.target.other, here(at));
  },
  "a workspace of this backend moves to another": async (at) => {
    await move(at, here(at), at.target.other);
  },
  "a stopped workspace moves too": async (at) => {
    const id = await at.create();
    await at.out(id, "echo kept > kept");
    await at.client.stopWorkspace(id);
    const { workspace_id: moved } = await at.client.createWorkspace({ from_workspace: id, ...at.target.other });
    at.keep(moved);
    assert.equal(await at.out(moved, "cat kept README.md"), "kept\n# A project\n");
  },
  "nothing moves that is not there, or that is asked for twice": async (at) => {
    const id = await at.shared();
    const ask = (options: object) => at.refusal(at.client.createWorkspace({ ...here(at), ...options }));
    assert.equal(await ask({ from_workspace: "ws-0000000000" }), "WORKSPACE_NOT_FOUND");
    assert.equal(await ask({ from_workspace: id, seed_path: at.project }), "INVALID_ARGUMENT");
    assert.equal(await ask({ from_workspace: id, backend: "no-such" }), "BACKEND_NOT_FOUND");
    assert.equal(await at.out(id, "cat README.md"), "# A project\n");
  },
});
