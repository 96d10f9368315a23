import { defaultHint, ERROR_CODES, type ErrorCode } from "../../src/model/error-codes.ts";

const HEAD = `# Errors

A failure has a code of this closed list, a message and a hint. With \`--json\` it is the one document on stdout; else it is two lines on stderr:

\`\`\`
error: There is no workspace "ws-none"
hint: See \`cloche workspace list\` for the ids there are
\`\`\`

| exit code | |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | the command line or the configuration is wrong |
| 125 | the sandbox itself failed |
| other | \`cloche run\` and \`cloche workspace exec\` pass on the command's own code, 128+n when signal n ended it |

A command that ends with another code than 0 is a result, not a failure: it has no error code.

The hint in the table is the one used where nothing better is known. Codes are made in \`src/model/error-codes.ts\`; this page is written from there with
\`UPDATE=1 npx vitest run --project unit test/repo/docs.test.ts\`.

| code | exit code | HTTP status | hint |
|---|---|---|---|
`;

/** `docs/errors.md` as it has to be. */
export function renderErrorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { exit, status }]) =>
      `| \`${code}\` | ${exit} | ${status} | ${defaultHint(code as ErrorCode).replaceAll("|", "\\|")} |`,
  );
  return `${HEAD}${rows.join("\n")}\n`;
}
