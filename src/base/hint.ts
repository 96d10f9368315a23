/** A call that a hint advises. Each surface shows it as its own: a command line, a tool. */
export interface AdvisedCall {
  readonly operation: string;
  /** A null stands for what the call that failed was given under that name. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** An argument of the call that failed, and what it is to be. */
export interface AdvisedArgument {
  readonly argument: string;
  readonly value?: string | undefined;
}

export type HintPart = string | AdvisedCall | AdvisedArgument;

/** What to do next: one or several ways, of which a surface shows those that it has. */
export type Hint = readonly (readonly HintPart[])[];
