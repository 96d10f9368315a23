/** Why an option's text is no value for it; the parser adds which option it was. */
export class BadValue extends Error {}
