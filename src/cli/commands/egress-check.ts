import type { EgressCheck } from "../../model/egress-seen.ts";
import { defineCommand } from "../command.ts";
import { withPolicyFile } from "../arguments/policy-file.ts";
import { usageError } from "../arguments/usage-error.ts";
import { escapeName } from "../output/escape.ts";

const IS_FILE = /\/|\.(?:ya?ml|json)$/;

export const command = defineCommand({
  words: ["egress", "check"],
  summary: "Say whether a request would pass, and by which rule",
  description:
    "Asks what the gate asks: the routes in their order, their rules for methods and paths, and the detectors over the URL. Nothing is sent. Exits with 0 when the request would pass, else with 1.",
  positionals: [
    {
      name: "ID|FILE",
      description:
        "A workspace, by its id, its name or the first characters of its id; or a policy file (.yaml, .yml, .json)",
      completes: "workspace",
    },
    { name: "METHOD", description: "Such as POST (default: GET)", optional: true },
    { name: "URL", description: "A whole URL, such as https://api.example.com/v1/items" },
  ],
  options: {},
  examples: [
    "cloche egress check ws-4 https://registry.example.com/left-pad",
    "cloche egress check ws-4 POST https://api.example.com/v1/items",
    "cloche egress check ./egress.yaml DELETE https://api.example.com/v1/items/7 --json",
  ],
  async run(context) {
    const about = context.argument("ID|FILE");
    const method = (context.optionalArgument("METHOD") ?? "GET").toUpperCase();
    if (!/^[A-Z]{1,32}$/.test(method)) throw usageError(this.words, `"${method}" is no method`, "METHOD is letters.");
    const url = context.argument("URL");
    const client = await context.connect();
    const checked = IS_FILE.test(about)
      ? await withPolicyFile(context.io, { file: about, words: this.words, flag: "the policy" }, (egress) =>
          client.checkEgress(url, { egress, method }),
        )
      : await client.checkEgress(url, { workspace_id: about, method });
    const { green, red } = context.colours;
    await context.print(checked, () =>
      checked.allowed ? `${green("pass")}  ${passes(checked)}` : `${red("deny")}  ${escapeName(checked.reason ?? "")}`,
    );
    return checked.allowed ? 0 : 1;
  },
});

function passes({ rule, route_index: index, injects, is_tunnel: isTunnel, method, host, path }: EgressCheck): string {
  const what = isTunnel ? `a tunnel to ${host ?? ""}` : `${method} ${host ?? ""}${path ?? ""}`;
  const credential = injects.length === 0 ? "" : `, with the token of ${injects.join(" and ")}`;
  return escapeName(`${what} by route ${(index ?? 0) + 1}, ${rule ?? ""}${credential}`);
}
