type Environment = Readonly<Record<string, string | undefined>>;

/** What the daemon reads itself, and what the programs need that it starts: Docker, npm, git, smolvm, `notify-send`, and commands of the operator's own. */
const KEPT = new RegExp(
  `^(?:${[
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|LD_LIBRARY_PATH",
    "CLOCHE_(?:HOME|CACHE|BACKEND|VM_KERNEL|SKILLS_DIR|GUEST_SKILLS_DIR|OCI_RUNTIME|LOG)",
    "XDG_[A-Z_]+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_[A-Z_]+|SMOLVM_[A-Z_]+|OTEL_[A-Z_]+",
    "(?:[Nn][Pp][Mm]_[Cc][Oo][Nn][Ff][Ii][Gg]_.+)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR",
    "(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY",
    "SSH_AUTH_SOCK|GNUPGHOME|PASSWORD_STORE_DIR|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)",
  ].join("|")})$`,
);

/** Of npm's settings, what signs in: that is in its own file where it is to last. */
const SIGNS_IN = /^npm_config_.*(?:auth|password|token|email|username)/i;

/**
 * What a daemon gets of the environment of the command that starts it. It outlives that command, and serves others.
 *
 * NODE_OPTIONS is not among it: some of them write what is in the memory to files.
 *
 * SECURITY: a token that a command has in a variable is not in the daemon's environment, nor in that of what it starts (G-55)
 */
export const daemonEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && KEPT.test(entry[0]) && !SIGNS_IN.test(entry[0]),
    ),
  );
