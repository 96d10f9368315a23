import { StringDecoder } from "node:string_decoder";
import type { ExecEvent, ExecResult } from "../model/exec.ts";
import type { CommandStream, ExecCallbacks } from "./options.ts";

/** A command's output as text. A character that arrives in two pieces comes whole; what is no UTF-8 becomes U+FFFD. */
export async function* toExecEvents(open: () => CommandStream): AsyncGenerator<ExecEvent, void> {
  const stream = open();
  try {
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    for await (const { channel, data } of stream.output()) {
      const text = decoders[channel].write(data);
      if (text !== "") yield { type: channel, data: text };
    }
    for (const channel of ["stdout", "stderr"] as const) {
      const rest = decoders[channel].end();
      if (rest !== "") yield { type: channel, data: rest };
    }
    yield { type: "exit", ...(await stream.result) };
  } finally {
    await stream.close();
  }
}

/** Runs a command to its end and hands on what it prints meanwhile. */
export async function followExec(
  open: () => CommandStream,
  { onStdout, onStderr }: ExecCallbacks,
): Promise<ExecResult> {
  const stream = open();
  for await (const event of toExecEvents(() => stream)) {
    if (event.type === "stdout") onStdout?.(event.data);
    else if (event.type === "stderr") onStderr?.(event.data);
  }
  return await stream.result;
}
