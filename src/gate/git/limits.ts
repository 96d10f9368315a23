/** Of one pack as it is pushed. */
export const MAX_PACK_BYTES = 2 * 1024 * 1024 * 1024;
/** Of what a client says when it fetches. */
export const MAX_FETCH_BYTES = 64 * 1024 * 1024;
/** Of one push. */
export const MAX_OBJECTS = 250_000;
/** Of all objects of one push together, unpacked. */
export const MAX_UNPACKED_BYTES = 8 * 1024 * 1024 * 1024;
/** Files that the commits of one push change, each as often as it is changed. */
export const MAX_CHANGES = 2_000_000;
/** Pushes, and rounds of fetches, that a gate works at. */
export const PUSHES_AT_ONCE = 4;
export const FETCHES_AT_ONCE = 16;
/** Each is a program on the host. */
export const SIGNATURES_AT_ONCE = 4;
/** Pushes that wait for the operator. */
export const HELD_AT_ONCE = 16;
/** Of the disk, that pushes leave to others. */
export const LEAST_FREE_BYTES = 512 * 1024 * 1024;
/** Of what comes before a pack. */
export const MAX_COMMAND_BYTES = 2 * 1024 * 1024;
