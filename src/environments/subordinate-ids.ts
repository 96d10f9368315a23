import { failure } from "../model/error-codes.ts";
import { access, constants, readFile } from "node:fs/promises";
import { userInfo } from "node:os";

const NEEDED = 65_536;
const HELPERS = ["/usr/bin/newuidmap", "/usr/bin/newgidmap"];

/** Without root, packages are installed under ids that the system has set aside for the user. Throws when there are none. */
export async function requireSubordinateIds(
  user = userInfo(),
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
