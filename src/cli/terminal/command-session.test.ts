import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openLocalCommand, openLocalRun } from "../../../test/helpers/local-command.ts";
import { createMemoryIo, type MemoryIo } from "../../../test/helpers/memory-io.ts";
import { failure } from "../../model/error-codes.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { OpenCommandOptions } from "../../sdk/options.ts";
import { runCli } from "../run-cli.ts";

/** A client whose commands are processes of this host; `opened` tells the options of the last. */
function localClient(): { client: Partial<Cloche>; opened: () => OpenCommandOptions | undefined } {
  let last: OpenCommandOptions | undefined;
  const openCommand = (id: string, options: OpenCommandOptions) => openLocalCommand(id, (last = options));
  return { client: { openCommand }, opened: () => last };
}

const exec = (io: MemoryIo, ...command: string[]) => runCli(["workspace", "exec", "ws-1", "--", ...command], io);

/** Resolves once the text has been written to stdout. */
async function seen(io: MemoryIo, text: string): Promise<void> {
  while (!io.stdout.text.includes(text)) await new Promise((resolve) => setImmediate(resolve));
}

describe("workspace exec", () => {
  it("gives both outputs byte for byte and the command's exit code", async () => {
    const io = createMemoryIo(localClient());
    expect(await exec(io, "sh", "-c", String.raw`printf '\377\0a'; printf err >&2; exit 7`)).toBe(7);
    expect(io.stdout.bytes).toEqual(Buffer.from([0xff, 0, 0x61]));
    expect(io.stderr.text).toBe("err");
  });

  it("passes standard input on", async () => {
    const io = createMemoryIo(localClient());
    io.stdin.end("some input");
    expect(await exec(io, "cat")).toBe(0);
    expect(io.stdout.text).toBe("some input");
  });

  it("ends with the command although standard input stays open", async () => {
    const { client, opened } = localClient();
    const io = createMemoryIo({ client });
    io.stdin.write("kept open");
    expect(await exec(io, "sh", "-c", "exit 3")).toBe(3);
    expect(opened()).toMatchObject({ stdin: true, command: ["sh", "-c", "exit 3"] });
  });

  it("with --json prints one document and nothing else, with the same exit code", async () => {
    const io = createMemoryIo(localClient());
    expect(await runCli(["ws", "exec", "ws-1", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 4"], io)).toBe(
      4,
    );
    expect(io.stderr.text).toBe("");
    expect(JSON.parse(io.stdout.text)).toMatchObject({ exit_code: 4, stdout: "out\n", stderr: "err\n" });
  });

  it("ends with the hint of a result, after what the command printed", async () => {
    const openCommand = (id: string, options: OpenCommandOptions) => {
      const stream = openLocalCommand(id, options);
      return {
        ...stream,
        result: stream.result.then((ended) => ({ ...ended, hint: "This workspace has no network" })),
      };
    };
    const io = createMemoryIo({ client: { openCommand } });
    expect(await exec(io, "sh", "-c", "echo 'no such host' >&2; exit 6")).toBe(6);
    expect(io.stderr.text).toBe("no such host\nhint: This workspace has no network\n");
  });

  it("passes Ctrl-C on, and the command decides", async () => {
    const io = createMemoryIo(localClient());
    const done = exec(io, "sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done");
    await seen(io, "ready");
    io.send("INT");
    expect(await done).toBe(9);
    expect(io.stdout.text).toContain("caught");
  });

  it("kills at the second Ctrl-C", async () => {
    const io = createMemoryIo(localClient());
    const done = exec(io, "sh", "-c", "trap '' INT; echo ready; while :; do sleep 0.05; done");
    await seen(io, "ready");
    io.send("INT");
    io.send("INT");
    expect(await done).toBe(137);
  });

  it("ends the command and exits with 141 when the reader goes away", async () => {
    const io = createMemoryIo(localClient());
    let left = 3;
    const stdout = new Writable({
      write: (_chunk, _encoding, done) =>
        done((left -= 1) > 0 ? null : Object.assign(new Error("gone"), { code: "EPIPE" })),
    });
    stdout.on("error", () => undefined);
    expect(await runCli(["ws", "exec", "ws-1", "--", "yes"], { ...io, stdin: io.stdin, stdout })).toBe(141);
    expect(io.stderr.text).toBe("");
  });

  it("shows why a command did not start, which only its result tells", async () => {
    const client: Partial<Cloche> = {
      openCommand: (id, options) => {
        const stream = openLocalCommand(id, options);
        return { ...stream, result: stream.result.then((result) => ({ ...result, stderr: "not found\n" })) };
      },
    };
    const silent = createMemoryIo({ client });
    expect(await exec(silent, "sh", "-c", "exit 127")).toBe(127);
    expect(silent.stderr.text).toBe("not found\n");
    const loud = createMemoryIo({ client });
    await exec(loud, "sh", "-c", "echo own words >&2");
    expect(loud.stderr.text).toBe("own words\n");
  });

  it("notes a timeout on stderr", async () => {
    const client: Partial<Cloche> = {
      openCommand: (id, options) => {
        const stream = openLocalCommand(id, options);
        return { ...stream, result: stream.result.then((result) => ({ ...result, timed_out: true, exit_code: 137 })) };
      },
    };
    const io = createMemoryIo({ client });
    expect(await runCli(["ws", "exec", "ws-1", "--timeout-seconds", "1", "--", "true"], io)).toBe(137);
    expect(io.stderr.text).toBe("note: the command was ended after 1 s; --timeout-seconds gives it longer\n");
  });
});

describe("a shell by its name alone, typed at a terminal without --tty", () => {
  const noteOf = async (more: { tty?: boolean; piped?: boolean }, ...command: string[]) => {
    const { piped = false, tty = true } = more;
    const io = { ...createMemoryIo({ ...localClient(), tty }), hasPipedInput: () => piped };
    io.stdin.end();
    expect(await exec(io, ...command)).toBe(0);
    return io.stderr.text;
  };

  it("ends at once, and a note says why", async () => {
    expect(await noteOf({}, "sh")).toBe("note: sh had nothing to read; --tty gives it your terminal\n");
    expect(await noteOf({}, "/bin/bash")).toContain("note: /bin/bash had nothing to read");
  });

  it("is no cause for a note with something to do or to read, or where nobody sits", async () => {
    expect(await noteOf({}, "sh", "-c", "true")).toBe("");
    expect(await noteOf({}, "true")).toBe("");
    expect(await noteOf({ piped: true }, "sh")).toBe("");
    expect(await noteOf({ tty: false }, "sh")).toBe("");
  });
});

describe("run", () => {
  it("exits as if the signal had ended it when it comes before the command runs", async () => {
    const client: Partial<Cloche> = {
      openRun: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(failure("CANCELLED", "Cancelled")));
          io.send("INT");
        }),
    };
    let io = createMemoryIo({ client });
    expect(await runCli(["run", "--", "true"], io)).toBe(130);
    expect(io.stderr.text).toBe("");
    io = createMemoryIo({ client, tty: true });
    expect(await runCli(["run", "--", "true"], io)).toBe(130);
    expect(io.stderr.text).toBe("cancelled\n");
  });

  it("passes the size of the sandbox on", async () => {
    let asked: unknown;
    const client: Partial<Cloche> = {
      openRun: (options) => {
        asked = options;
        return Promise.resolve(openLocalRun(options));
      },
    };
    const io = createMemoryIo({ client });
    expect(await runCli(["run", "--vcpu-count", "2", "--mem-mib", "256", "--", "true"], io)).toBe(0);
    expect(asked).toMatchObject({ vcpu_count: 2, mem_mib: 256 });
  });

  it("removes the progress from the terminal before the command's first byte", async () => {
    const client: Partial<Cloche> = {
      openRun: ({ onProgress, ...options }) => {
        onProgress?.({ step: "unpacking" });
        return Promise.resolve(openLocalRun(options));
      },
    };
    const io = createMemoryIo({ client, tty: true });
    const shown: string[] = [];
    for (const stream of [io.stdout, io.stderr]) {
      const write = stream._write.bind(stream);
      stream._write = (chunk, encoding, done) => {
        shown.push(chunk.toString());
        write(chunk, encoding, done);
      };
    }
    expect(await runCli(["run", "--", "echo", "hi"], io)).toBe(0);
    expect(shown.join("")).toBe("unpacking\r\u001B[Khi\n");
  });
});
