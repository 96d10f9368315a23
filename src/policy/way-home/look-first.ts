/** What tools of a host obey without being asked: editors, shells, git, package managers, agents and build servers. */
const OBEYED: readonly RegExp[] = [
  /(^|\/)\.(gitattributes|gitmodules|lfsconfig|envrc|npmrc|yarnrc(\.yml)?|pre-commit-config\.ya?ml|mcp\.json)$/u,
  /(^|\/)\.(vscode|idea|husky|githooks|devcontainer|cursor|claude|codex|gemini|cloche)\//u,
  /^\.(github|circleci|buildkite)\//u,
  /^(\.gitlab-ci\.ya?ml|\.travis\.yml|azure-pipelines\.yml|Jenkinsfile)$/u,
];

/** Whether somebody should look at a file before anything on the host does. */
export const actsByItself = (path: string): boolean => OBEYED.some((pattern) => pattern.test(path));
