import { messageOf } from "../../base/errors.ts";
import { placesFrom } from "../../base/paths.ts";
import type { RefuseOptions } from "../../hosts/compare-entry.ts";
import { thisLauncher } from "../../hosts/server-entry.ts";
import type { Context } from "../command.ts";
import { parseArguments } from "./parse-arguments.ts";
import { SERVE, serveAccess } from "./serve-access.ts";
import { serveWords } from "./serve-options.ts";

const refuse: RefuseOptions = (options) => {
  try {
    parseArguments(SERVE, options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** This installation as the commands about hosts see it, with the options that were given for the server. */
export function hostSetting({ io, values }: Pick<Context, "io" | "values">) {
  const { env, cwd } = io;
  const options = serveWords(values, cwd);
  return { launcher: thisLauncher(env), refuse, accessOf: serveAccess, options, home: placesFrom(env).home };
}
