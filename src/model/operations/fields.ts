import { z } from "zod";
import { Command } from "../exec.ts";
import { NAME, SECRET_NAME } from "../names.ts";

/** Fields that several operations share. */
export const workspaceId = z.string().min(1).max(64);

export const path = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes("\0"), "a path has no NUL");

export const name = z
  .string()
  .regex(NAME, "a name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit");

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name is letters, digits and '_', and starts with no digit");

export const secretName = z
  .string()
  .regex(SECRET_NAME, "a secret's name is 1 to 64 letters, digits or '_', and starts with no digit");

/** Which secret a command gets in which variable. */
export const secretEnv = z.record(secretName, variable);

export const terminalSize = { cols: z.number().int().min(1).max(1000), rows: z.number().int().min(1).max(1000) };

/** What every way to run something takes. */
export const commandFields = {
  command: Command,
  cwd: path.optional(),
  env: z.record(variable, z.string().max(131_072)).optional(),
  secret_env: secretEnv.optional(),
};
