type GiveBack = () => void;

/**
 * Gives back the pages of Node's own program, which are some forty megabytes after its start: most of what they have is needed for nothing but that. What is needed
 * again comes from the file that all of Node's processes share. Nothing where the loader was not asked for the library that can do it.
 */
export const giveBackCode: GiveBack = loaded();

function loaded(): GiveBack {
  const library = process.env["LD_PRELOAD"];
  const nothing = () => undefined;
  if (library === undefined) return nothing;
  const module: { exports: unknown } = { exports: {} };
  try {
    // It is in memory already: no file is read, and a gate that can read none has it too.
    process.dlopen(module, library);
  } catch {
    return nothing; // another library than ours
  }
  return typeof module.exports === "function" ? (module.exports as GiveBack) : nothing;
}
