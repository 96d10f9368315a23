import { ClocheError, isClocheError } from "../../base/errors.ts";
import { MANIFEST_NAME } from "../../model/vocabulary.ts";
import type { CheckEgressOptions } from "../../sdk/options.ts";
import type { EgressCheck } from "../../model/egress-seen.ts";
import { defineCommand } from "../command.ts";
import { withPolicyFile } from "../arguments/policy-file.ts";
import { usageError } from "../arguments/usage-error.ts";
import { escapeName } from "../output/escape.ts";

const IS_FILE = /^-$|\/|\.(?:ya?ml|json)$/;

export const command = defineCommand({
  words: ["egress", "check"],
  summary: "Say whether a request would pass, and by which rule",
  description:
    "Asks what the gate asks: the routes in their order, their rules for methods and paths, and the detectors over the URL. Nothing is sent. Exits with 0 when the request would pass, else with 1.",
  positionals: [
    {
      name: "ID|IDENTITY|BOTTLE|FILE",
      description:
        "A workspace, by its id, its name or the first characters of its id; a run; a bottle; or a policy file (.yaml, .yml, .json; - is standard input)",
      completes: "workspace",
    },
    { name: "METHOD", description: "Such as POST (default: GET)", optional: true },
    { name: "URL", description: "A whole URL, such as https://api.example.com/v1/items" },
  ],
  options: {},
  examples: [
    "cloche egress check ws-4 https://registry.example.com/left-pad",
    "cloche egress check ws-4 POST https://api.example.com/v1/items",
    "cloche egress check reviewer-k3x9a https://docs.example.com/",
    "cloche egress check dev https://api.example.com/v1/items",
    "cloche egress check ./egress.yaml DELETE https://api.example.com/v1/items/7 --json",
    "cloche egress learn ws-4 | cloche egress check - https://api.example.com/",
  ],
  async run(context) {
    const about = context.argument("ID|IDENTITY|BOTTLE|FILE");
    const method = (context.optionalArgument("METHOD") ?? "GET").toUpperCase();
    if (!/^[A-Z]{1,32}$/.test(method)) throw usageError(this.words, `"${method}" is no method`, "METHOD is letters.");
    const url = context.argument("URL");
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url))
      throw usageError(this.words, `"${url}" is no whole URL`, "Such as https://api.example.com/v1/items.");
    const client = await context.connect();
    const checked = IS_FILE.test(about)
      ? await withPolicyFile(context.io, { file: about, words: this.words, flag: "the policy" }, (egress) =>
          client.checkEgress(url, { egress, method }),
        )
      : await checkNamed(about, (options) => client.checkEgress(url, { ...options, method }));
    const { green, red } = context.colours;
    await context.print(checked, () =>
      checked.allowed ? `${green("pass")}  ${passes(checked)}` : `${red("deny")}  ${escapeName(checked.reason ?? "")}`,
    );
    return checked.allowed ? 0 : 1;
  },
});

/** The workspace of that name, which may be a run's; where there is none, the bottle. */
async function checkNamed(
  about: string,
  check: (options: CheckEgressOptions) => Promise<EgressCheck>,
): Promise<EgressCheck> {
  try {
    return await check({ workspace_id: about });
  } catch (error) {
    if (!isMissing(error, "WORKSPACE_NOT_FOUND") || !MANIFEST_NAME.test(about)) throw error;
    return await check({ bottle: about }).catch((missing: unknown) => {
      throw isMissing(missing, "BOTTLE_NOT_FOUND") ? nothingNamed(about, error) : missing;
    });
  }
}

const isMissing = (error: unknown, code: string): error is ClocheError => isClocheError(error) && error.code === code;

/** What became of a workspace of that name is told where there was one. */
const nothingNamed = (about: string, { code, message, details }: ClocheError): ClocheError =>
  new ClocheError(
    code,
    details === undefined ? `There is no workspace, no run and no bottle "${about}"` : message,
    "See `cloche workspace list`, `cloche list active` and `cloche list`; a policy file is named with its ending or a slash",
    details && { details },
  );

function passes({ rule, route_index: index, injects, is_tunnel: isTunnel, method, host, path }: EgressCheck): string {
  const what = isTunnel ? `a tunnel to ${host ?? ""}` : `${method} ${host ?? ""}${path ?? ""}`;
  const credential = injects.length === 0 ? "" : `, with the token of ${injects.join(" and ")}`;
  return escapeName(`${what} by route ${(index ?? 0) + 1}, ${rule ?? ""}${credential}`);
}
