/**
 * The one thing that a method of a handle cannot do without may stand alone, before the options, or be one of them: `exec("make", { cwd })` is
 * `exec({ command: "make", cwd })`.
 */
export function toOptions<Options extends object, Key extends keyof Options>(
  key: Key,
  given: Options[Key] | Options,
  rest: Omit<Options, Key>,
): Options {
  const isAlone = typeof given !== "object" || given === null || Array.isArray(given);
  return { ...rest, ...(isAlone ? { [key]: given } : given) } as Options;
}
