import { type CliResult, PROJECT, runProcess } from "./installation.ts";

/** A user id that belongs to nobody. */
const UID = 54_321;

/**
 * Runs a shell script as an ordinary user, with `$CLOCHE` as the built CLI, a home of its own and nothing of root's but the project, bound
 * read-only in a private mount namespace: a checkout may lie where no other user may look.
 */
export async function runAsUser(script: string, options: { userNamespaces?: boolean } = {}): Promise<CliResult> {
  const forbid =
    "exec unshare --user --map-current-user --keep-caps sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec sh -c \"$SCRIPT\"'";
  const setUp = `
    set -e
    mount -t tmpfs -o mode=755 tmpfs /mnt
    mkdir /mnt/project /mnt/home
    touch /mnt/node
    mount --bind "$PROJECT" /mnt/project
    mount -o remount,bind,ro /mnt/project
    mount --bind "$NODE" /mnt/node
    chown ${UID}:${UID} /mnt/home
    cd /mnt/home
    export HOME=/mnt/home CLOCHE_HOME=/mnt/home/c CLOCHE_CACHE=/mnt/home/cache CLOCHE="/mnt/node /mnt/project/dist/cli/main.js"
    exec setpriv --reuid ${UID} --regid ${UID} --clear-groups sh -c '${options.userNamespaces === false ? forbid.replaceAll("'", "'\\''") : 'exec sh -c "$SCRIPT"'}'`;
  return await runProcess("unshare", ["--mount", "--propagation", "private", "sh", "-c", setUp], {
    env: { PATH: process.env["PATH"], PROJECT, NODE: process.execPath, SCRIPT: script },
    timeoutMs: 120_000,
  });
}
