import { constants } from "node:os";
import { errnoOf } from "../../base/errors.ts";
import type { Run, RunEnd } from "../../model/run.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { RunAttachment } from "../../sdk/options.ts";
import type { Context } from "../command.ts";
import { BROKEN_PIPE_EXIT } from "../output/broken-pipe.ts";
import { writeAll } from "../output/write-all.ts";
import { attachTerminal } from "../terminal/attach-terminal.ts";
import { forwardSignals } from "../terminal/forward-signals.ts";

/** Of `--json`: what fits of each. */
const TOLD_BYTES = 1024 * 1024;
/** The sandbox failed, and nobody knows what became of the agent. */
const EXIT_UNKNOWN = 125;

/** At the user's own terminal, until the agent has ended or is left. */
export async function sitDown(context: Context, client: Cloche, identity: string, cursor?: number): Promise<number> {
  return await attachTerminal<RunEnd>(context, {
    what: identity,
    open: async (terminal) => bytesOf(await client.attachRun(identity, { terminal, cursor })),
    farewell: (end) => {
      context.io.stderr.write("\n");
      return farewell(context, end);
    },
  });
}

/** At a terminal there is one channel. */
function bytesOf(stream: RunAttachment) {
  return {
    result: stream.result,
    async *output() {
      for await (const { data } of stream.output()) yield data;
    },
    write: (data: Uint8Array) => stream.write(data),
    resize: (size: { cols: number; rows: number }) => stream.resize(size),
    endInput: () => stream.endInput(),
    close: () => stream.close(),
  };
}

/** Without a terminal: what it prints comes out here, each channel by itself, and signals go to it. */
export async function followOutput(context: Context, client: Cloche, run: Pick<Run, "identity">): Promise<number> {
  const stream = await client.attachRun(run.identity);
  const signals = forwardSignals(context.io, (name) => stream.signal(name));
  try {
    const told = await Promise.race([copyOutput(context, stream), signals.abandoned]);
    const end = await Promise.race([stream.result, signals.abandoned]);
    if (context.json) await context.print({ ...run, ...end, ...told }, () => "");
    return farewell(context, end);
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
    await stream.signal("TERM").catch(() => undefined);
    return BROKEN_PIPE_EXIT;
  } finally {
    signals.stop();
    await stream.close();
  }
}

/** What a document tells of the output. */
async function copyOutput({ io, json }: Context, stream: RunAttachment): Promise<object> {
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const sizes = { stdout: 0, stderr: 0 };
  for await (const { channel, data } of stream.output()) {
    if (!json) {
      await writeAll(channel === "stdout" ? io.stdout : io.stderr, data);
      continue;
    }
    if (sizes[channel] < TOLD_BYTES) kept[channel].push(data.subarray(0, TOLD_BYTES - sizes[channel]));
    sizes[channel] += data.length;
  }
  const text = (channel: "stdout" | "stderr") => Buffer.concat(kept[channel]).toString("utf8");
  return {
    stdout: text("stdout"),
    stderr: text("stderr"),
    stdout_truncated: sizes.stdout > TOLD_BYTES,
    stderr_truncated: sizes.stderr > TOLD_BYTES,
  };
}

/** What became of it, and the exit code. */
function farewell(context: Context, end: RunEnd): number {
  const { identity, state, exit_code: code, kept, reason, has_changes: hasChanges } = end;
  const { program } = context.io;
  if (state === "running") {
    context.note(`Detached from ${identity}, which works on; come back with \`${program} attach ${identity}\``);
    return 0;
  }
  if (kept) {
    const how = code === null ? `was cut off: ${reason ?? "its sandbox has ended"}` : `ended with exit code ${code}`;
    const signal = code !== null && code > 128 ? signalName(code - 128) : undefined;
    const why = code !== null && reason !== null ? `: ${reason}` : "";
    context.note(`${identity} ${how}${signal ? ` (${signal})` : ""}${why}, and was kept`);
    context.note(`hint: Take it up with \`${program} resume ${identity}\``);
  }
  if (hasChanges) {
    if (!kept) context.note(`${identity} is done; what it changed is kept for a day`);
    context.note(`hint: Bring its changes home with \`${program} apply ${identity}\``);
  }
  return code ?? EXIT_UNKNOWN;
}

const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, one]) => one === number)?.[0];
