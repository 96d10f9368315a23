/** The closed vocabularies and name patterns of the contract, as plain data: a surface that starts often loads no schema library. */
export const WORKSPACE_ID = /^ws-[0-9a-z]{10}$/;
/** Of a run. */
export const IDENTITY = /^[a-z][a-z0-9-]{0,63}$/;
/** Of a bottle, an agent, a skill and a provider. Short enough that an agent's name and a few characters make an identity. */
export const MANIFEST_NAME = /^[a-z][a-z0-9-]{0,57}$/;
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
export const WORKSPACE_ROOT = "/workspace";

/** The user that commands run as, the same on every backend. */
export const AGENT = { name: "agent", uid: 1000, gid: 1000, home: "/home/agent" } as const;

/** `egress+published-ports` without hosts is the old name of `published-ports`. */
export const NETWORK_POLICIES = ["off", "published-ports", "egress", "egress+published-ports"] as const;
/** Those that work today. The others are taken, so that they can be answered with a reason, and are not offered. */
export const OFFERED_NETWORK_POLICIES = ["off", "egress", "published-ports"] as const;
export const WORKSPACE_STATES = ["started", "stopped", "failed", "expired"] as const;
export const EXECUTION_MODES = ["guest_socket", "guest_serial", "guest_vsock", "guest_stdio"] as const;
export const ARTIFACT_TYPES = ["file", "directory", "symlink"] as const;

/** The backends that come with cloche, in the order in which they are told. */
export const BUILT_IN_BACKENDS = ["container", "docker", "vm", "smolmachines"] as const;
