import { z } from "zod";

/** The parts of results that tools share. Fields that a caller acts on; the wire's objects have more, and all of it is sent. */
const text = z.string();
const int = z.number().int();

export const workspaceShape = z.object({
  workspace_id: text,
  name: text.nullable(),
  state: text,
  expires_at: z.number().nullable(),
});

export const seedShape = z.object({
  mode: text,
  seed_path: text.nullable(),
  origin_ref: text.nullable(),
  /** Told in the text; its schema would be read in every conversation. */
  left_out: z.unknown(),
});

export const execShape = z.object({
  sequence: int,
  exit_code: int,
  stdout: text,
  stderr: text,
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  timed_out: z.boolean(),
  duration_ms: z.number(),
  hint: text.optional(),
});

export const fileListShape = z.object({
  path: text,
  entries: z.array(z.object({ path: text, artifact_type: text, size_bytes: int })),
  total: int,
  next_cursor: int.nullable(),
});

export const fileContentShape = z.object({
  path: text,
  content: text,
  encoding: text,
  size_bytes: int,
  truncated: z.boolean(),
  next_offset: int.nullable(),
});

export const changeShape = z.object({ path: text, status: text });

export const serviceShape = z.object({
  service_name: text,
  state: text,
  exit_code: int.nullable(),
  published_ports: z.array(z.object({ guest_port: int, host_port: int, host: text })),
});

export const shellShape = z.object({ shell_id: text, state: text, exit_code: int.nullable() });
