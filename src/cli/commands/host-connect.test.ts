import { expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { HOSTS } from "../../model/host.ts";
import { HOST_TABLE } from "../../hosts/hosts.ts";
import { runCli } from "../run-cli.ts";

it.each(HOSTS.filter((host) => !HOST_TABLE[host].addCommand))("names what connects %s in its place", async (host) => {
  const io = createMemoryIo({});
  expect(await runCli(["host", "connect", host], io)).toBe(2);
  expect(io.stderr.text).toContain(`error: ${host} has no command of its own that adds a server\n`);
  expect(io.stderr.text).toContain(`hint: \`cloche host repair ${host}\``);
});
