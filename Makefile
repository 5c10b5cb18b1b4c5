# Everything starts here. Needs Node 20 or newer, Go and make; the rest is brought in by npm and by the lab itself.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

# Node 24 and all tools come from node_modules.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# npm's own record of what it installed: older than the lockfile means install again.
DEPS  := node_modules/.package-lock.json
LAB    = node packages/lab/src/cli.ts
NAME  ?= lab
NODES ?= 3

##@ Try it

playground: $(DEPS) ## A Kubernetes with valkey-operator on this machine  [NODES=3 VALKEY=8.1 CONTEXT=… ARGS="--keep"]
	@$(LAB) playground --nodes $(NODES) $(if $(VALKEY),--valkey $(VALKEY)) $(if $(CONTEXT),--context $(CONTEXT)) $(ARGS)

playground-down: $(DEPS) ## Remove a playground that was kept
	@$(LAB) playground-down $(ARGS)

##@ Test it

test: $(DEPS) ## Everything: lint, types, generated files, unit and end-to-end tests
	@node scripts/test.ts

lint: $(DEPS) ## Format, lint, types, dead code
	@node scripts/test.ts static

unit: $(DEPS) ## Unit tests  [UNIT=packages/api]
	@node scripts/test.ts unit

e2e: $(DEPS) ## End-to-end tests on a lab, as root  [E2E=api]
	@node scripts/test.ts e2e

crash-points: $(DEPS) ## Kill the operator at every point of every operation, on a lab, as root (long)  [CRASH_POINTS=Upgrade]
	@rm -f .lab/crash-points; code=0; export CRASH_POINTS=$${CRASH_POINTS:-all}; \
	  vitest run --project e2e tests/e2e/crash-points.test.ts || code=$$?; cat .lab/crash-points; exit $$code

verify: $(DEPS) ## Are the generated files what the generators write?
	@node scripts/test.ts verify

bench: $(DEPS) ## Benchmarks, each against its floor  [BENCH=name]
	@node tests/bench/run.ts $(BENCH)

test-lab-build: $(DEPS) ## Build the lab's Kubernetes from source and check it (minutes)
	@node packages/lab/src/binaries/test-build.ts

##@ Change it

generate: $(DEPS) ## Write CRDs, API reference and RPC code
	@node scripts/generate.ts

format: $(DEPS) ## Format everything, fix what the linter can fix
	@oxfmt . && oxlint --fix

clean: ## Remove what can be made again (running labs: make lab-down first)
	@rm -rf node_modules coverage packages/*/dist .lab/test .lab/failures

images: $(DEPS) ## Our own images as OCI layouts, for a registry  [OUT=dist/images]
	@$(LAB) save-images --out $(or $(OUT),dist/images)

##@ A lab: a real Kubernetes on this machine, as root

lab-up: $(DEPS) ## Start one; the last line is the path of its admin kubeconfig  [NAME=lab NODES=3]
	@$(LAB) up --name $(NAME) --nodes $(NODES) $(ARGS)

lab-install: $(DEPS) ## Install CRDs and operator into valkey-system  [NAME=lab]
	@$(LAB) install --name $(NAME) $(ARGS)

lab-status: $(DEPS) ## What runs, where its logs are, what is wrong  [NAME=lab]
	@$(LAB) status --name $(NAME) $(ARGS)

lab-images: $(DEPS) ## The images its nodes hold  [NAME=lab]
	@$(LAB) images --name $(NAME) $(ARGS)

lab-down: $(DEPS) ## Remove it, whatever state it is in  [NAME=lab]
	@$(LAB) down --name $(NAME) $(ARGS)

help:
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# Not `npm ci`: it refuses a lockfile without the native packages of every other platform, and a registry need not have
# those. This installs what is locked just the same, and writes nothing but node_modules. No package needs its install script.
$(DEPS): package-lock.json
	@echo 'Installing npm packages' >&2
	@npm install --no-save --ignore-scripts --loglevel=error >&2
	@touch $@

.PHONY: help playground playground-down test lint unit e2e crash-points verify bench test-lab-build generate format clean \
        lab-up lab-install lab-status lab-images lab-down
