import { existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { useScriptedClient } from "../../test/helpers/scripted-client.ts";

// Each starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const scripted = useScriptedClient();

describe("an attached shell", () => {
  const attach = (shell = "sh-1") => scripted.sdk.attachShell("ws-x", shell, { cols: 80, rows: 24 });
  const texts = async (chunks: AsyncIterable<Buffer>): Promise<string> => {
    let text = "";
    for await (const chunk of chunks) text += chunk.toString("utf8");
    return text;
  };

  it("is typed to and read until it ends", async () => {
    const stream = attach();
    const output = stream.output()[Symbol.asyncIterator]();
    expect(String((await output.next()).value)).toBe("$ ");
    await stream.write("ls\r");
    expect(String((await output.next()).value)).toBe("ls\r");
    await stream.write(Buffer.from("exit\r"));
    expect(String((await output.next()).value)).toBe("exit\r");
    expect(await output.next()).toMatchObject({ done: true });
    expect(await stream.result).toMatchObject({ shell_id: "sh-1", state: "exited", exit_code: 0 });
    await stream.write("too late");
  });

  it("goes on when it is left", async () => {
    expect(await attach().detach()).toMatchObject({ state: "running" });
    const stream = attach();
    stream.endInput();
    stream.endInput();
    expect(await texts(stream.output())).toBe("$ ");
    expect(await stream.result).toMatchObject({ state: "running" });
    const cut = attach();
    await cut.close();
    await expect(cut.result).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("goes on with the next daemon after kill -9, from its last screenful, typed to and in its new size", async () => {
    const stream = scripted.sdk.attachShell("ws-x", "sh-1", { cols: 80, rows: 24, cursor: 7 });
    await stream.resize({ cols: 100, rows: 30 });
    const output = stream.output()[Symbol.asyncIterator]();
    expect(String((await output.next()).value)).toBe("$ ");
    await stream.write("die");
    expect(String((await output.next()).value)).toBe("die");
    expect(String((await output.next()).value)).toBe("$ ");
    await stream.write("exit");
    expect(await stream.result).toMatchObject({ state: "exited", cols: 100 });
    expect(scripted.notes().filter((line) => line.startsWith("attach"))).toEqual([
      "attach sh-1 80x24 7",
      "attach sh-1 100x30 screen",
    ]);
    expect(scripted.notes().filter((line) => line.startsWith("recover"))).toHaveLength(2);
  });

  it("gives the next daemon what is typed while there is none", async () => {
    const stream = attach();
    await stream.write("die");
    const { pid } = await scripted.sdk.daemonStatus();
    await expect.poll(() => existsSync(`/proc/${pid}`), { interval: 2 }).toBe(false);
    await Promise.all([stream.write("typed"), stream.write("exit")]);
    expect(await texts(stream.output())).toMatch(/^\$ die\$ typedexit$/);
    expect(await stream.result).toMatchObject({ state: "exited" });
  });

  it("that is not there is told", async () => {
    const stream = attach("refuse");
    await expect(stream.result).rejects.toMatchObject({ code: "SHELL_NOT_FOUND" });
    expect(await texts(stream.output())).toBe("");
    await stream.write("nothing");
  });
});
