import type { GitIdentity, PlannedUpstream } from "../../model/bottle-plan.ts";
import { GIT_PORT } from "../../model/git-order.ts";
import { spellingsOf } from "./upstream-urls.ts";

/** Where a sandbox finds a repository of its bottle. */
export const doorUrl = (name: string): string => `http://127.0.0.1:${GIT_PORT}/${name}`;

/** What git is told in a sandbox: who commits are by, and that the repositories of the bottle are at the door. */
export function sandboxGitConfig(
  identity: GitIdentity | null,
  upstreams: readonly PlannedUpstream[],
  signing: { readonly publicKey: string; readonly program: string } | null = null,
): string {
  const user = [
    ...(signing ? [`\tsigningKey = ${quoted(`key::${signing.publicKey}`)}`] : []),
    ...(identity?.name == null ? [] : [`\tname = ${quoted(identity.name)}`]),
    ...(identity?.email == null ? [] : [`\temail = ${quoted(identity.email)}`]),
  ];
  const lines = ["# Written by cloche at each start.", ...(user.length === 0 ? [] : ["[user]", ...user])];
  if (upstreams.length > 0) lines.push(`[http "http://127.0.0.1:${GIT_PORT}/"]`, "\tproxy =");
  for (const { name, repo } of upstreams) {
    lines.push(`[url ${quoted(doorUrl(name))}]`);
    for (const spelling of spellingsOf(repo.url)) lines.push(`\tinsteadOf = ${quoted(spelling)}`);
  }
  // No key is in a sandbox: what is signed is signed by the host, or not at all.
  const isSigned = String(signing !== null);
  if (signing) lines.push("[gpg]", "\tformat = ssh", '[gpg "ssh"]', `\tprogram = ${quoted(signing.program)}`);
  if (signing || upstreams.length > 0)
    lines.push("[commit]", `\tgpgSign = ${isSigned}`, "[tag]", `\tgpgSign = ${isSigned}`);
  return `${lines.join("\n")}\n`;
}

const quoted = (value: string): string => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/**
 * What git calls in place of ssh-keygen: it gives what is to be signed to the door. For anything but signing it is ssh-keygen itself. An answer ends with a line
 * that has its status.
 */
export const SIGN_SCRIPT = String.raw`#!/bin/sh
# Written by cloche: the host signs, and the key stays there.
case " $* " in *" -Y sign "*) ;; *) exec ssh-keygen "$@" ;; esac
for file; do :; done
port=${GIT_PORT}
if command -v curl >/dev/null; then
  answer=$(curl -sS --noproxy '*' -w '\n%{http_code}' --data-binary @"$file" "http://127.0.0.1:$port/-/sign") || exit 1
elif command -v bash >/dev/null; then
  size=$(wc -c <"$file" | tr -d ' ')
  answer=$(bash -c 'exec 3<>/dev/tcp/127.0.0.1/$3 && { printf "POST /-/sign HTTP/1.0\r\ncontent-length: %s\r\n\r\n" "$1"; cat "$2"; } >&3 && read -r _ code _ <&3 && sed "1,/^.\{0,1\}$/d" <&3 && printf "\n%s" "$code"' sh "$size" "$file" "$port") || exit 1
else
  echo "cloche: signing needs curl or bash in the sandbox" >&2
  exit 1
fi
code=$(printf '%s\n' "$answer" | tail -n 1)
if [ "$code" != 200 ]; then
  printf '%s\n' "$answer" | sed '$d' >&2
  exit 1
fi
printf '%s\n' "$answer" | sed '$d' | sed '/^$/d' >"$file.sig"
`;
