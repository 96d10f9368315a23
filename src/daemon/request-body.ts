import type { IncomingMessage } from "node:http";
import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { INPUTS } from "../model/operation-inputs.ts";
import type { OperationInput, OperationName } from "../model/operations.ts";
import { describeIssue } from "../model/describe-issue.ts";
import { tellingIssue } from "../model/issue-path.ts";
import { requireFewParts } from "./json-shape.ts";

/** Room for a file of 16 MiB, escaped. */
export const MAX_BODY_BYTES = 24 * 1024 * 1024;
const NEWLINE = 10;

/** By events rather than by iteration: it is on the path of every call. */
export function readBody(
  request: IncomingMessage,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const held: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        held.length = 0;
        reject(tooLarge());
      } else {
        held.push(chunk);
        onBytes(chunk.length);
      }
    });
    request.once("end", () => resolve(Buffer.concat(held)));
    request.once("close", () => reject(failure("CANCELLED", "The client went away")));
  });
}

/** The first line of the body, and what follows it as it comes. */
export async function readFirstLine(
  request: IncomingMessage,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<{ line: Buffer; rest: AsyncIterable<Buffer> }> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const mark = chunk.indexOf(NEWLINE);
    bytes += mark < 0 ? chunk.length : mark;
    onBytes(chunk.length);
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    if (mark >= 0) {
      const line = Buffer.concat([...held, chunk.subarray(0, mark)]);
      return { line, rest: following(request, chunk.subarray(mark + 1)) };
    }
    held.push(chunk);
  }
  return { line: Buffer.concat(held), rest: following(request, undefined) };
}

export const tooLarge = (): ClocheError =>
  failure("INVALID_ARGUMENT", `The request is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`, {
    hint: "Send less at once",
  });

async function* following(request: IncomingMessage, first: Buffer | undefined): AsyncGenerator<Buffer, void> {
  if (first !== undefined && first.length > 0) yield first;
  try {
    // The answer goes on after the command stopped reading: the request must not be destroyed then.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw failure("CANCELLED", "The client went away", { cause: error });
  }
}

export function parseJson(operation: OperationName, body: Buffer): unknown {
  requireFewParts(body);
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw failure("INVALID_ARGUMENT", `Cannot read the input of ${operation}: it is not JSON`, { cause: error });
  }
}

/** Input as its operation's schema has it, or INVALID_ARGUMENT. */
export function parseInput<Name extends OperationName>(operation: Name, value: unknown): OperationInput<Name> {
  const schema = INPUTS[operation];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const problem = describeIssue(schema, value, parsed.error);
    const argument = tellingIssue(parsed.error)?.path.join(".");
    throw failure("INVALID_ARGUMENT", `Cannot do ${operation}: ${problem}`, {
      ...(argument && { details: { argument, problem } }),
    });
  }
  return parsed.data as OperationInput<Name>;
}
