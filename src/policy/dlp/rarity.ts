/** Letters of English text and of code, the most frequent first. */
const FREQUENT = "etaoinsrhldcumfpgwybvkxjqz";

/** How unlikely a byte is in ordinary text, in about bits. */
const RARITY = Float64Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  const rank = FREQUENT.indexOf(character.toLowerCase());
  if (rank === -1) return byte >= 0x30 && byte <= 0x39 ? 6 : 5;
  const bits = 3 + rank / 4;
  return character === character.toLowerCase() ? bits : bits + 2;
});

/** Where the rarest `length` characters in a row begin, from `from` up to `to`. Needles are entered with their rarest grams, so that text passes them by. */
export function rarestAt(
  bytes: Uint8Array,
  { from, to, length }: { from: number; to: number; length: number },
): number {
  let best = from;
  let most = -1;
  for (let at = from; at < to; at++) {
    let sum = 0;
    for (let more = 0; more < length; more++) sum += RARITY[bytes[at + more] ?? 0] ?? 0;
    if (sum > most) [best, most] = [at, sum];
  }
  return best;
}
