import type { ExecResult } from "../model/exec.ts";
import type { CommandStream } from "../sdk/options.ts";

const EACH_MS = 1000;
const SILENT_MS = 5000;
const MAX_LINE = 200;

/**
 * Runs a command to its end and says now and then how it goes: its last line when there is a new one, else that it still runs, so that a host which
 * waits for a sign of life does not give up.
 */
export async function followCommand(stream: CommandStream, report: (message: string) => void): Promise<ExecResult> {
  const began = performance.now();
  let said = began;
  let fresh: string | undefined;
  const timer = setInterval(() => {
    const now = performance.now();
    if (fresh === undefined && now - said < SILENT_MS) return;
    report(fresh ?? `still running after ${Math.round((now - began) / 1000)} s`);
    fresh = undefined;
    said = now;
  }, EACH_MS);
  try {
    for await (const { data } of stream.output()) fresh = lastLine(data) ?? fresh;
    return await stream.result;
  } finally {
    clearInterval(timer);
  }
}

function lastLine(data: Buffer): string | undefined {
  const end = data.subarray(Math.max(0, data.length - 4096)).toString("utf8");
  return (
    end
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1)
      ?.trim()
      .slice(0, MAX_LINE) || undefined
  );
}
