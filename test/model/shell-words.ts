/** A path as a word for `sh`; not taken for an option. */
export const quoted = (path: string): string => word(path.startsWith("-") ? `./${path}` : path);

/** One word for `sh`, of bytes that are one character each and no line feed at the end. */
export function word(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `"$(${printed(text)})"`;
}

/** A command that prints these bytes. */
export function printed(text: string): string {
  const codes = Array.from(text, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
  return `printf '${codes.join("")}'`;
}

/** What scripts may call. A folder of a lower layer is moved by copying, so what cannot be read or emptied stays where it is on both sides. */
export const SHELL_PRELUDE = `umask 022
export LC_ALL=C
movable() {
  [ -e "$1" ] && [ -z "$(find "$1" ! -type l '(' ! -readable -o -type d '(' ! -writable -o ! -executable ')' ')' 2>&1 | head -c 1)" ]
}
ordinary() { [ -f "$1" ] && [ ! -L "$1" ] && case $(stat -c %a "$1") in 644 | 755) :;; *) false;; esac; }
`;
