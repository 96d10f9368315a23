/** The names of the first ones. */
export const STARTER_BOTTLE = "dev";
export const STARTER_AGENT = "assistant";

/** Says where it is, and on a terminal becomes a shell: something that works before any agent is installed. */
const SHELL = `agent_provider:
  template: command
  settings:
    # Any program. {prompt} is the task that \`cloche start --prompt\` gives, {prompt_file} the file with the agent's instructions.
    argv:
      - /bin/sh
      - -c
      - |
        echo "You are $(id -un), in $(pwd), in a bottle."
        if [ -n "$1" ]; then echo "Your task: $1"; fi
        if [ -t 0 ]; then PS1="bottle$ " exec /bin/sh -i; fi
      - agent
      - "{prompt}"
`;

/** Where each has its credential, unless told. */
const VARIABLES: Readonly<Record<string, string>> = {
  claude: "CLAUDE_CODE_OAUTH_TOKEN",
  codex: "CODEX_API_KEY",
  opencode: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
};

function providerPart(provider: string, authToken: string | undefined): string {
  if (provider === "command") return SHELL;
  return `agent_provider:
  template: ${provider}
  # A variable in the environment of \`cloche start\`. Its value never enters the sandbox: the gate puts it in.
  auth_token: ${authToken ?? VARIABLES[provider] ?? "API_KEY"}
${provider === "opencode" ? "  settings: {model: anthropic/claude-sonnet-4-5}\n" : ""}`;
}

export const starterBottle = (provider: string, authToken: string | undefined): string => `---
# A bottle is what an agent gets and what it may do. Only files in this folder count: a project cannot bring its own.

# What the sandbox's system is made of: see \`cloche env list\`.
environment: host

${providerPart(provider, authToken)}
# Variables of the agent: a literal, \${NAME} for a variable of yours, or ?text to be asked at launch.
env:
  LOG_LEVEL: info

# What may leave. What is not listed stays in.
egress:
  log: blocks
  # To let something out, take the [] away, and the # in front of what you need.
  routes: []
  #  - host: docs.example.com
  #  - host: api.example.com
  #    auth: {scheme: Bearer, token_ref: API_TOKEN}
  #    matches:
  #      - methods: [GET]
  #        paths: [{type: prefix, value: /v1}]

# Who commits are by.
# git:
#   user: {name: Your Agent, email: agent@example.com}

# What it gets of the host.
# limits: {vcpu_count: 2, mem_mib: 4096}
---

Notes about this bottle, for people.
`;

export const starterAgent = (): string => `---
# An agent is a prompt, and the bottle that it works in. It cannot widen what the bottle allows.
bottle: ${STARTER_BOTTLE}
# Folders of ~/.claude/skills that it gets.
skills: []
---

You are a careful engineer. Read before you change, run the tests, and say what you did.
`;
