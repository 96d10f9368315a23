/** What tools of a host obey without being asked: editors, shells, git, package managers, agents and build servers. In any case of letters, as some file systems take it. */
const OBEYED: readonly RegExp[] = [
  /(^|\/)\.(gitattributes|gitmodules|lfsconfig|envrc|npmrc|yarnrc(\.yml)?|pre-commit-config\.ya?ml|mcp\.json)$/iu,
  /(^|\/)(\.hg\/hgrc|\.cargo\/config(\.toml)?|\.?mise(\.local)?\.toml|\.tool-versions|\.pnpmfile\.c?js|package\.json)$/iu,
  /(^|\/)(CLAUDE(\.local)?|AGENTS|GEMINI)\.md$/iu,
  /(^|\/)\.(vscode|idea|husky|githooks|devcontainer|cursor|claude|codex|gemini|cloche|mvn|mise)\//iu,
  /^\.(github|circleci|buildkite)\//iu,
  /^(\.gitlab-ci\.ya?ml|\.travis\.yml|azure-pipelines\.yml|Jenkinsfile)$/iu,
];

/** Whether somebody should look at a file before anything on the host does. */
export const actsByItself = (path: string): boolean => OBEYED.some((pattern) => pattern.test(path));
