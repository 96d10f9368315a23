/** In fewer bytes a part of a credential is not known as one. */
const LEAST_BYTES = 64;

/** Whether what a `Range` asks for is one part of an answer, and large enough to look for a credential in. */
export function isReadableRange(range: string): boolean {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (first === undefined || last === undefined || first + last === "") return false;
  if (first === "") return Number(last) >= LEAST_BYTES;
  return last === "" || Number(last) - Number(first) + 1 >= LEAST_BYTES;
}
