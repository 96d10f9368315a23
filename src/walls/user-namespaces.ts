/** What is told where a user cannot be walled off from what is the user's own. */
export const NO_USER_NAMESPACES = {
  message: "this host does not allow user namespaces",
  hint:
    "Allow them: sysctl -w user.max_user_namespaces=15000; where they exist also kernel.unprivileged_userns_clone=1 and " +
    "kernel.apparmor_restrict_unprivileged_userns=0",
} as const;
