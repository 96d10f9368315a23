/**
 * Letters, digits and signs of names. What is no part of a word, or could end one, is not among them: spaces of any kind, brackets, quotation marks, arrows, and the letters that nothing is
 * drawn for.
 */
const PLAIN = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}!#$%&'*+,\-./:=?@\\^_`|~])+$/u;

/**
 * A name that somebody else chose, of a file or of a ref, as it stands in a sentence of cloche's: in quotation marks where it could be read as more words of that sentence.
 *
 * SECURITY: nobody makes a sentence say something else by the name of a file or a branch (G-171)
 */
export const shownName = (name: string): string => (PLAIN.test(name) ? name : JSON.stringify(name));
