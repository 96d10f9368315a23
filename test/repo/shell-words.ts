/**
 * The simple commands of a shell example, as words: quotes are taken off, comments and redirections left out, `&&`, `;` and `|` part commands, and what
 * is in `$(…)` is a command of its own. No more of a shell than examples in documents need.
 */
export function shellCommands(script: string): string[][] {
  const commands: string[][] = [];
  const inner: string[] = [];
  const text = script.replace(/\\\n/g, " ").replace(/\$\(([^()]*)\)/g, (_, command: string) => {
    inner.push(command);
    return "$SUBSTITUTED";
  });
  for (const line of text.split("\n")) {
    const words: string[] = [];
    const finish = () => commands.push(words.splice(0));
    for (const [token] of line.matchAll(TOKEN)) {
      if (token.startsWith("#")) break;
      if (REDIRECTION.test(token)) continue;
      if (/^(&&|\|\||;|\|)$/.test(token)) finish();
      else words.push(unquote(token));
    }
    finish();
  }
  return [...commands, ...inner.flatMap(shellCommands)].filter((words) => words.length > 0);
}

const REDIRECTION = /^\d?(?:>>?|<)/;
const TOKEN = /&&|\|\||[;|]|#.*|\d?(?:>>?|<)(?:&\d|\s*[^\s;|&]+)|(?:'[^']*'|"(?:\\.|[^"])*"|[^\s;|&'"<>])+/g;

const unquote = (word: string): string =>
  word.replace(/'([^']*)'|"((?:\\.|[^"])*)"/g, (_, single?: string, double?: string) => single ?? double ?? "");
