/** A body of at most this many bytes is held back until it is whole. */
export const WHOLE_BYTES = 32_768;
/** Bytes of a longer body that are scanned at once. */
export const WINDOW_BYTES = 16_384;
