import { failure } from "../model/error-codes.ts";
import { Redactor } from "../policy/redactor.ts";

/** The values of a workspace's secrets. They are in this process's memory and in the sandbox's, and nowhere on a disk. */
export class Secrets {
  readonly values: ReadonlyMap<string, string>;
  readonly redactor: Redactor;

  constructor(values: ReadonlyMap<string, string>) {
    this.values = values;
    this.redactor = new Redactor([...values.values()]);
  }

  /** The variables that a call asked for: secret name to variable name. */
  environment(secretEnv: Readonly<Record<string, string>> | undefined): Record<string, string> {
    return Object.fromEntries(
      Object.entries(secretEnv ?? {}).map(([name, variable]) => {
        const value = this.values.get(name);
        if (value === undefined) throw failure("SECRET_NOT_FOUND", `The workspace has no secret "${name}"`);
        return [variable, value];
      }),
    );
  }
}

export const NO_SECRETS = new Secrets(new Map());
