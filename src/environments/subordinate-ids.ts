import { failure } from "../model/error-codes.ts";
import { access, constants, readFile } from "node:fs/promises";
import { type UserInfo, userInfo } from "node:os";

const NEEDED = 65_536;
const HELPERS = ["/usr/bin/newuidmap", "/usr/bin/newgidmap"];

/** The name of the user that runs this: `newuidmap` refuses a user id without a name, as containers often have one. */
export function findUser(look: typeof userInfo = userInfo): UserInfo<string> {
  try {
    return look();
  } catch (cause) {
    throw failure(
      "ENVIRONMENT_BUILD_FAILED",
      `Cannot build the environment: user id ${process.geteuid?.() ?? "?"} has no name on this host`,
      {
        hint: "Run cloche as a user that has one, or as root add one with `useradd --uid`; `newuidmap` needs it",
        cause,
      },
    );
  }
}

/** Without root, packages are installed under ids that the system has set aside for the user. Throws when there are none. */
export async function requireSubordinateIds(
  user = findUser(),
  etc = "/etc",
  helpers: readonly string[] = HELPERS,
): Promise<void> {
  for (const helper of helpers) {
    await access(helper, constants.X_OK).catch((cause: unknown) => {
      throw failure("ENVIRONMENT_BUILD_FAILED", `Cannot build the environment: ${helper} is not installed`, {
        hint: "Install it with `apt-get install uidmap mmdebstrap`",
        cause,
      });
    });
  }
  for (const file of ["subuid", "subgid"]) {
    const text = await readFile(`${etc}/${file}`, "utf8").catch(() => ""); // missing means that nobody has any
    const ranges = text.split("\n").map((line) => line.trim().split(":"));
    const found = ranges.some(
      ([who, , count]) => (who === user.username || who === String(user.uid)) && Number(count) >= NEEDED,
    );
    if (found) continue;
    throw failure(
      "ENVIRONMENT_BUILD_FAILED",
      `Cannot build the environment: user "${user.username}" has no range in /etc/${file}`,
      {
        hint: `As root, run \`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${user.username}\``,
      },
    );
  }
}
