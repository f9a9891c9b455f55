# chela: everything a developer runs. `make` alone says what there is.
# run, build and test need Go, git and make, and nothing else.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 10s

.DEFAULT_GOAL := help

.PHONY: help run build test race lint fuzz fuzz-gate cover generate bench eval screenshot clean

help: ## say what the targets do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## start the workstation in this folder (ARGS="...": its arguments)
	./bin/chela $(ARGS)

build: ## build bin/chela, one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/chela .

test: ## run all tests
	CGO_ENABLED=0 go test -timeout 30m ./...

race: ## run all tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -timeout 30m ./...

lint: ## formatting, vet for three systems, staticcheck
	@unformatted=$$(go tool gofumpt -l .) && if [ -n "$$unformatted" ]; then \
		echo "not formatted (go tool gofumpt -w FILE):"; echo "$$unformatted"; exit 1; fi
	GOOS=linux go vet ./...
	GOOS=darwin CGO_ENABLED=0 go vet ./...
	GOOS=windows CGO_ENABLED=0 go vet ./...
	go tool staticcheck ./...

# A run that ends at its time limit may say "context deadline exceeded" and fail,
# which is a fault of go test; a finding names its failing input.
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@go list -f '{{$$p := .}}{{range .TestGoFiles}}{{$$p.ImportPath}} {{$$p.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$p.ImportPath}} {{$$p.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | \
	while read -r package file; do [ -n "$$file" ] || continue; \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "== $$package $$target"; \
			out=$$(go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$package" 2>&1) || \
				case "$$out" in \
				*"Failing input"*) echo "$$out"; exit 1;; \
				*"context deadline exceeded"*) ;; \
				*) echo "$$out"; exit 1;; \
				esac; \
		done; \
	done

# The parsers that stand between foreign text and an effect.
GATE_FUZZ := toolkit/guard/command:FuzzClassify toolkit/guard:FuzzPath toolkit/guard:FuzzURL \
	ui/safetext:FuzzVariants ui/diff:FuzzParse engine/rescue:FuzzParse store:FuzzHistoryQuery

fuzz-gate: ## fuzz what guards the gate for FUZZTIME each (CI: 60s)
	@for t in $(GATE_FUZZ); do \
		package=$${t%%:*}; target=$${t##*:}; echo "== $$package $$target"; \
		out=$$(go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s "./$$package" 2>&1) || \
			case "$$out" in \
			*"Failing input"*) echo "$$out"; exit 1;; \
			*"context deadline exceeded"*) ;; \
			*) echo "$$out"; exit 1;; \
			esac; \
	done

cover: ## measure what the tests cover, into cover.out
	go test -coverprofile=cover.out -coverpkg=./... ./...
	go tool cover -func=cover.out | tail -n 1

generate: ## write the generated tables anew
	go generate ./...

bench: build ## measure what the design promises, into docs/benchmarks.md
	go run ./docs/bench bin/chela docs/benchmarks.md

eval: ## measure what the engine does for flawed models, into docs/evaluation.md (MODEL=NAME: a model of Ollama, printed)
	go run ./docs/eval docs/evaluation.md $(MODEL)

screenshot: build ## draw the README's picture from the running program
	go run ./docs/screenshot bin/chela docs/screenshot.svg

clean: ## remove what was built
	rm -rf bin dist cover.out
