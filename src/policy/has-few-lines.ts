/** Whether a text has at most so many lines: as an object each costs far more than its bytes. */
export function hasFewLines(text: string | Buffer, most: number): boolean {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) if (++lines > most) return false;
  return true;
}
