import { Duplex, PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { AGENT, GitDoorBed } from "../../../test/helpers/git-door.ts";
import { SIGNATURES_AT_ONCE } from "./limits.ts";

const SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n";
const ME = `${AGENT.name} <${AGENT.email}> 1700000000 +0000`;
const commit = (who: string) => `tree ${"a".repeat(40)}\nauthor ${who}\ncommitter ${who}\n\nmessage\n`;

it("G-146 tells of each signature, and has few made at once", async () => {
  let now = 0;
  let most = 0;
  const reach = () => {
    most = Math.max(most, ++now);
    const talk = new Duplex({
      read: () => undefined,
      write: (_chunk, _coding, taken) => taken(),
      final(taken) {
        setTimeout(() => {
          now--;
          this.push(SIGNATURE);
          this.push(null);
        }, 150);
        taken();
      },
    });
    return Promise.resolve({ talk: talk as never, said: new PassThrough() as never });
  };
  await using bed = await GitDoorBed.start({ reach, signing: { place: 7 } });
  const ask = async (body: string) =>
    await (await fetch(`http://127.0.0.1:${bed.port}/-/sign`, { method: "POST", body })).text();
  expect(await ask(commit("The Boss <boss@example.com> 1 +0000"))).toContain("it is not signed");
  expect(bed.signed).toBe(0);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(commit(ME))));
  expect(answers).toEqual(answers.map(() => SIGNATURE));
  expect(bed.signed).toBe(20);
  expect(most).toBeLessThanOrEqual(SIGNATURES_AT_ONCE);
});
