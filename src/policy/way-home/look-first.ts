/** What tools of a host obey without being asked: editors, shells, git, package managers, agents and build servers. In any case of letters, as some file systems take it. */
const OBEYED: readonly RegExp[] = [
  /(^|\/)\.(gitattributes|gitmodules|lfsconfig|envrc|npmrc|yarnrc(\.yml)?|pre-commit-config\.ya?ml|mcp\.json)$/iu,
  /(^|\/)(\.hg\/hgrc|\.cargo\/config(\.toml)?|\.?mise(\.local)?\.toml|\.tool-versions|\.pnpmfile\.c?js|package\.json)$/iu,
  /(^|\/)(\.bazelrc|\.rvmrc|\.dir-locals\.el|\.pnp\.c?js|\.yarn\/(releases|plugins|sdks)\/.*)$/iu,
  /(^|\/)((CLAUDE(\.local)?|AGENTS|GEMINI)\.md|opencode\.jsonc?|\.(cursor|windsurf|cline)rules)$/iu,
  // SECURITY: a link by such a name leads there as well as a folder does (G-186)
  /(^|\/)\.(vscode|idea|zed|husky|githooks|devcontainer|cursor|windsurf|claude|codex|gemini|opencode|cloche|mvn|mise)(\/|$)/iu,
  /(^|\/)\.(hg|cargo|yarn)$/iu,
  /^\.(github|circleci|buildkite|gitea|forgejo|woodpecker)(\/|$)/iu,
  /^(\.gitlab-ci\.ya?ml|\.travis\.yml|\.drone\.yml|\.woodpecker\.ya?ml|azure-pipelines\.yml|bitbucket-pipelines\.yml|Jenkinsfile)$/iu,
];

/** Whether somebody should look at a file before anything on the host does. */
export const actsByItself = (path: string): boolean => OBEYED.some((pattern) => pattern.test(path));
