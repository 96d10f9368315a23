/** Below the ids of sandboxes and emulators, and above those that systemd gives to containers. */
const FIRST_USER = 1_880_000_000;

/** Whether it has one: then nobody but root looks into what it starts. */
export const hasOwnUser = (): boolean => (process.getuid?.() ?? 0) >= FIRST_USER;

/**
 * Becomes a user of its own where root starts it, another one for each gate that runs. All of the program is loaded by then. The kernel takes every capability away
 * with that, and lets nobody but root look into the process.
 *
 * SECURITY: whoever takes over a gate is nobody on this host: owns no file, reads no memory, reaches no socket but those that its keeper connects (G-42)
 */
export function becomeOwnUser(): void {
  if (process.getuid?.() !== 0) return;
  // Its keeper's number, so that the gate after this one has the same, and owns the same files.
  const id = FIRST_USER + process.ppid;
  process.setgroups?.([]);
  process.setgid?.(id);
  process.setuid?.(id);
}
