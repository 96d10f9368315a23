# The whole life of the project in a few targets. Every one sets up what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The guest program and its hash, for this machine's processor and for all that the package has.
GUEST := build/guest/$(if $(filter aarch64,$(shell uname -m)),arm64,x64)/SHA256SUMS
ALL_GUESTS := build/guest/x64/SHA256SUMS build/guest/arm64/SHA256SUMS
SOURCES := $(shell find src -name '*.ts' -not -name '*.test.ts' -o -name '*.tsx' -not -name '*.test.tsx')

.PHONY: help setup build package check check-types check-format check-lint test torture demo bench clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 30

setup: ## Install what is missing to build and run
	@scripts/setup

build: setup $(GUEST) dist/.built ## Build the guest program and the package

package: build ## Build what the package has besides: the guest program for other processors
	@scripts/setup --package
	@$(MAKE) --no-print-directory -s $(ALL_GUESTS)

build/guest/%/SHA256SUMS: $(wildcard guest/*.c guest/*.h guest/*/*.c guest/*/*.h) guest/Makefile
	@echo "Building the guest program for $*" >&2
	@$(MAKE) --no-print-directory -j2 -C guest ARCH=$*
	@touch $@

dist/.built: $(SOURCES) scripts/bundle.mjs package.json tsconfig.json tsconfig.build.json node_modules/.package-lock.json
	@echo "Building the package" >&2
	@node_modules/typescript/bin/tsc -p tsconfig.build.json
	@node scripts/bundle.mjs
	@chmod 755 dist/cli/main.js
	@touch $@

node_modules/.package-lock.json: package-lock.json
	@scripts/setup

demo: build ## Show the main job: an agent in a bottle repairs a test, tries to leak, and is stopped
	@node dist/cli/main.js demo

check: build ## Types, lint and format
	@$(MAKE) --no-print-directory -j2 -Otarget check-types check-format check-lint

check-types:
	@node_modules/typescript/bin/tsc -p tsconfig.json

check-format:
	@node_modules/.bin/prettier --check --log-level warn .

check-lint:
	@node_modules/.bin/oxlint --quiet

test: ## Set up what the tests need, check, and run them all
	@scripts/setup --tests
	@$(MAKE) --no-print-directory package
	@$(MAKE) --no-print-directory -j2 -Otarget check-types check-format
	@scripts/run-tests

torture: ## Play random steps on workspaces beside plain folders (STEPS, SEED, BACKEND=container,docker,vm)
	@scripts/setup --tests
	@$(MAKE) --no-print-directory build
	@STEPS="$(or $(STEPS),1000)" SEED="$(SEED)" BACKEND="$(or $(BACKEND),container)" node_modules/.bin/vitest run --project sandbox test/model

bench: ## Measure beside the peers, at most 10 minutes; JSON in bench/results/ (ROW=exec or ROW=work,busy for single rows)
	@scripts/setup --bench
	@$(MAKE) --no-print-directory build
	@node bench/bench.mjs $(if $(ROW),--only "$(ROW)")

clean: ## Remove what was built
	@rm -rf dist build/guest coverage

# The use cases, each walked in a real workspace: see docs/use-cases/README.md
USE_CASE_ENVIRONMENT ?= host
USE_CASE_BACKEND ?= container
USE_CASE_OPTIONS = --environment "$(USE_CASE_ENVIRONMENT)" --backend "$(USE_CASE_BACKEND)"

.PHONY: smoke-use-cases smoke-cold-start-validation smoke-repro-fix-loop smoke-parallel-workspaces \
	smoke-untrusted-inspection smoke-review-eval smoke-real-repo

smoke-use-cases: build ## Walk all use cases (USE_CASE_ENVIRONMENT, USE_CASE_BACKEND)
	@node dist/use-cases/main.js --scenario all $(USE_CASE_OPTIONS)

smoke-cold-start-validation: build ## Walk one use case: validate and start an unknown project
	@node dist/use-cases/main.js --scenario cold-start-validation $(USE_CASE_OPTIONS)

smoke-repro-fix-loop: build ## Walk one use case: reproduce, patch, prove, reset
	@node dist/use-cases/main.js --scenario repro-fix-loop $(USE_CASE_OPTIONS)

smoke-parallel-workspaces: build ## Walk one use case: one workspace for each issue
	@node dist/use-cases/main.js --scenario parallel-workspaces $(USE_CASE_OPTIONS)

smoke-untrusted-inspection: build ## Walk one use case: inspect without trust
	@node dist/use-cases/main.js --scenario untrusted-inspection $(USE_CASE_OPTIONS)

smoke-review-eval: build ## Walk one use case: review by a checklist, go back on failure
	@node dist/use-cases/main.js --scenario review-eval $(USE_CASE_OPTIONS)

smoke-real-repo: build ## Walk the loop on this project itself: install, failing test, patch, test, diff, export
	@node dist/use-cases/real-repo-main.js $(USE_CASE_OPTIONS)
