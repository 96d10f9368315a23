import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { AgentDefinition } from "../../src/model/agent-definition.ts";
import { Bottle } from "../../src/model/bottle.ts";
import { readProjectFile } from "./project-files.ts";

const root = join(import.meta.dirname, "../..");

/** What editors check front matter with, made from what the daemon checks it with. */
const SCHEMAS = {
  "schemas/bottle.schema.json": { title: "A bottle of cloche: the front matter of bottles/NAME.md", schema: Bottle },
  "schemas/agent.schema.json": {
    title: "An agent of cloche: the front matter of agents/NAME.md",
    schema: AgentDefinition,
  },
} as const;

it.each(Object.entries(SCHEMAS))(
  "%s is what the code takes; UPDATE=1 writes it, then prettier formats it",
  (file, { title, schema }) => {
    const { $schema, ...made } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    const wanted = { $schema, title, ...made };
    if (process.env["UPDATE"]) {
      mkdirSync(join(root, "schemas"), { recursive: true });
      writeFileSync(join(root, file), `${JSON.stringify(wanted, null, 2)}\n`);
    }
    expect(JSON.parse(readProjectFile(file))).toEqual(wanted);
    expect(wanted).toMatchObject({ type: "object", additionalProperties: false });
  },
);
