# Thin wrappers of Snakemake.
# `make help` lists the usual targets; `make help-all` all of them, and the variables that can be set on
# the command line.
PRESET ?= full
PROFILE ?= default
CONFIG ?=
CORES ?= all
VENV ?= .venv
ARGUMENTS ?=

# config/config.yaml is the full preset; the others are laid on it, and a file of your own on both.
CONFIGURATION = $(if $(filter full,$(PRESET)),,config/presets/$(PRESET).yaml) $(CONFIG)
# Not abspath, which takes a path with a blank for two.
BIN = $(if $(filter /%,$(firstword $(VENV))),,$(CURDIR)/)$(VENV)/bin
# Snakemake, $(call run,TARGET). Options that take several values stand before the profile, or they would
# take the target for one more. The workflow names the one that is nearest to ASKED, if it is none.
run = ASKED=$(1) PATH="$(BIN):$$PATH" snakemake $(if $(strip $(CONFIGURATION)),--configfile $(CONFIGURATION)) \
  --logger splitcredit --logger-splitcredit-expected workflow/expected/$(PRESET).csv \
  $(ARGUMENTS) --workflow-profile workflow/profiles/$(PROFILE) \
  $(if $(filter default,$(PROFILE)),--cores $(CORES)) $(1)

# One line here, where Snakemake would end in its whole help or in a traceback.
ifneq ($(shell echo '$(CORES)' | grep -Exc 'all|[1-9][0-9]*'),1)
  $(error CORES=$(CORES) is not allowed: expected all, or a number of cores such as CORES=2)
endif

PYTEST = "$(BIN)/python" -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
EXPERIMENT ?=
FAMILY ?=
KILLS ?= 50
NUMBER ?= 500

.PHONY: help help-all reproduce quick sweep test test-all lint format docs environment lock bench audits damaged calls verify claims-mutated faults mutants same-bytes notebooks reference reference-archive clean

# Lists the targets that a pattern names, and one of the workflow.
listed = awk -F ':.*\#\# ' '/^$(1):.*\#\# /{printf "  make %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST); \
  printf '  make %-22s %s\n' PAPER/ARTEFACT "one artefact and all that it needs, such as make sutera2021/table4"

help:
	@$(call listed,(reproduce|quick|sweep|test))
	@printf '  make %-22s %s\n' help-all "all targets, and the variables that can be set, such as PRESET"

help-all:
	@$(call listed,[a-z-]+)
	@printf '  make %-22s %s\n' PAPER "one paper, such as make sutera2021"
	@printf '\nVariables, such as make reproduce PRESET=quick CORES=8:\n\n'
	@printf '  %-27s %s\n' "PRESET=full, quick or tiny" "the sizes of a run" \
	  CONFIG=FILE "a configuration of your own on top (config/README.md)" \
	  "CORES=all or a number" "cores that a run uses" \
	  PROFILE=NAME "slurm, or another folder of workflow/profiles (docs/cluster.md)" \
	  EXPERIMENT=NAME "the experiment of make sweep (docs/sweeps.md)" \
	  KILLS=NUMBER "the kills of make faults" \
	  FAMILY=SEED "the seed of the models that make bench draws" \
	  NUMBER=500 "how many calls or damaged files of each format" \
	  "ARGUMENTS='...'" "further arguments of Snakemake" \
	  VENV=FOLDER "the environment, .venv by default (docs/environments.md)" \
	  PYTHON=PATH "the Python that it is made with" \
	  "INSTALLER=auto, uv or pip" "what installs its packages"

reproduce: environment ## build the environment and run everything at the papers' scale
	@start=$$(date +%s); $(call run)$(if $(ARGUMENTS),, && \
	  echo "$$(head -n 1 results/verdict.txt) ($$(($$(date +%s) - start)) seconds, results/report.html)")

quick: ## the same pipeline, scaled down
	@$(MAKE) --no-print-directory reproduce PRESET=quick

sweep: environment ## one experiment: make sweep EXPERIMENT=name
	$(call run,"experiment_$(EXPERIMENT)")

test: environment ## build the environment and run the tests, but for those that take long
	$(PYTEST) -m "not long"

test-all: environment ## all tests: also whole runs of the workflow, printed numbers, large forests
	$(PYTEST)

lint: environment ## formatting and static checks of package and workflow
	"$(BIN)/ruff" check
	"$(BIN)/ruff" format --check
	"$(BIN)/mypy"
	"$(BIN)/snakefmt" --check Snakefile workflow
	$(call run,--lint)

format: environment ## put package and workflow into their format
	"$(BIN)/ruff" check --fix
	"$(BIN)/ruff" format
	"$(BIN)/snakefmt" Snakefile workflow

docs: environment ## the documentation site, into build/site; a warning is an error
	"$(BIN)/python" -m sphinx -q -W --keep-going -E -c docs . build/site
	@echo "build/site/index.html"

environment: ## only build the environment
	@PYTHON="$(PYTHON)" INSTALLER="$(INSTALLER)" PROFILE="$(PROFILE)" \
	  workflow/environment.sh "$(VENV)"

# Further indexes of a machine may hold some files of a package only; the lock needs the hashes of all.
lock: environment ## resolve the dependencies anew (needs uv), and write environment.yml
	unset UV_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS; \
	for name in requirements requirements-tools requirements-slurm; do \
	  "$(BIN)/uv" pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate --quiet --upgrade -o $$name.lock \
	    $$([ $$name = requirements ] && echo "--group pipeline --group docs --group test pyproject.toml" || \
	      echo "-c requirements.lock $$name.in") || exit 1; \
	done
	"$(BIN)/python" workflow/make_environment_yml.py

bench: environment ## time the core against its peers, into results/timing/bench.csv; FAMILY=seed for drawn models alone
	"$(BIN)/python" benchmarks/environments.py
	OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=2 \
	  "$(BIN)/python" benchmarks/run.py $(if $(FAMILY),family $(FAMILY))

audits: environment ## plant leaks and effects, or none, and count what an audit finds of them (docs/audit.md)
	@OMP_NUM_THREADS=1 PYTHONPATH=src "$(BIN)/python" benchmarks/audits.py $(ARGUMENTS)

damaged: environment ## damage NUMBER model files of every format, read them, and compare with their libraries
	@OMP_NUM_THREADS=1 PYTHONPATH=src "$(BIN)/python" tests/damaged.py --number $(NUMBER) $(ARGUMENTS)

calls: environment ## call the public functions NUMBER times with generated arguments
	@CALLS=$(NUMBER) "$(BIN)/python" -m pytest -q -s -n 0 tests/splitcredit/api/test_generated_calls.py

verify: environment ## compare the results of a finished full run with the reference run, cell by cell
	@"$(BIN)/python" tools/verify.py

claims-mutated: environment ## put wrong numbers into every judged row of a finished run, and count those that are seen
	@"$(BIN)/python" tools/claims_mutated.py $(ARGUMENTS)

faults: environment ## kill a small run at random moments, resume it and compare: make faults KILLS=5
	"$(BIN)/python" tools/faults.py --kills $(KILLS)

mutants: environment ## change one place of the code at a time, and count the changes that tests see (hours)
	@"$(BIN)/python" tools/mutants.py $(ARGUMENTS)

same-bytes: environment ## one experiment with other cores, threads, batches and Pythons: the same tables
	@"$(BIN)/python" tools/same_bytes.py $(ARGUMENTS)

notebooks: environment ## run the notebooks on results/, and write them with outputs to results/notebooks
	"$(BIN)/python" notebooks/execute.py

reference: ## copy claims, tables and the figures of pages from a full run, and run the notebooks on it
	"$(BIN)/python" tools/take_reference.py
	"$(BIN)/python" tools/take_plots.py benchmarks.md
	"$(BIN)/python" notebooks/execute.py --out notebooks

reference-archive: environment ## put all figures, tables and the report of a run into build/, as one archive
	"$(BIN)/python" tools/archive_reference.py

clean: ## delete all results
	find results/ -mindepth 1 ! -name README.md -delete
	rm -rf .snakemake

# Every other target is one of the workflow: a paper (make sutera2021) or an artefact of it
# (make sutera2021/table4).
.DEFAULT:
	@$(MAKE) --no-print-directory environment
	$(call run,$(subst /,_,$@))
