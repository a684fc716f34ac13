# The commands for all work here; CI calls the same ones. ARGS passes more: make test ARGS="tests/api -x"

PYTHON_IN = .venv/bin/python
COMPILE = $(PYTHON_IN) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links --no-annotate
DIST = $(if $(OUT),$(OUT)/dist,dist)
PUBLISHED = $(if $(RELEASE_KEY),--key $(RELEASE_KEY)) $(if $(RELEASE_URL),--url $(RELEASE_URL))
WORKERS = 2
SEED = 1
SEEDS = 1000
SECONDS = 60
N = 200
WORLDS = 20
PYTEST = $(PYTHON_IN) -m pytest -n$(WORKERS) --dist=worksteal
TEST_HINT = case $$code in \
	4) echo 'make $@: no such path or option. Name a folder, file or test under tests: make $@ ARGS="tests/storage -x"' >&2 ;; \
	5) echo 'make $@: no test selected. tests/long_tests.txt lists the tests of make test-long; make test runs the rest.' >&2 ;; esac
# Where this is set, each process that a test starts would compile the whole program anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: languages help setup run test test-long check clients lint simulate simulate-d1 walk bench bench-short bench-compare bench-stale bench-cadence bench-churn bench-kinds bench-lists bench-natural docs man recording pictures lock binary binary-check package wheel clean cldr bench-watch torture torture-short chaos fuzz mutants

help:
	@echo "make run       serve on 127.0.0.1:8080, data under ./data   (ARGS=\"--port 9000\")"
	@echo "make test      the tests to run before a change, 8 minutes   (ARGS=\"tests/api -x\", WORKERS=0)"
	@echo "make test-long  the rest: simulated worlds, planted bugs, crowds, journeys; CI runs both"
	@echo "make check     format, lint, types, import rules, house rules   (make lint: but for the tests)"
	@echo "make clients   the generated parts of both API clients"
	@echo "make simulate  the whole service in a simulated world       (SEED=7 ARGS=\"--days 30\")"
	@echo "make walk      worlds of all kinds, with seeds that the commit draws (WORLDS=20)"
	@echo "make simulate-d1  deliveries in 1,000 simulated worlds each (SEEDS=200)"
	@echo "make bench     goals, limits and our figures           (WHAT=\"log match\" PAGE=docs/figures.md; bench-short: do all run?)"
	@echo "make bench-compare  this tree beside another commit    (BASE=HEAD~5 WHAT=\"runtime table\" ARGS=\"--rounds 5\")"
	@echo "make bench-stale  marks sections of docs/figures.md whose product has changed a lot since"
	@echo "make bench-churn  real changes told from churn on real pages    (PAGES=folder ARGS=--alone)"
	@echo "make bench-watch  changes that readers wait for, scripted      (ARGS=-v)"
	@echo "make bench-kinds  kinds of change on labelled blocks, prices    (PAGES=folder)"
	@echo "make bench-lists   new items of lists, their titles and links     (PAGES=folder)"
	@echo "make bench-natural  long real histories of pages              (LOOKS=folder ARGS=\"--pages p000 --list FILE\")"
	@echo "make torture   the real service, killed, stopped, locked, filled; then an audit  (ARGS=\"--kills 30\"; torture-short: a minute)"
	@echo "make chaos     three nodes on one PostgreSQL, killed, stopped, cut off; then the same audit          (ARGS=\"--seconds 3600\")"
	@echo "make fuzz      what strangers send, drawn and bent            (SECONDS=3600 ARGS=\"--seed 7 --only feed\")"
	@echo "make mutants   N small faults, and which test or world notices     (N=20 SEED=2 ARGS=\"--only matcher --keep\")"
	@echo "make languages  the dashboard's catalogues, brought up to date with its texts"
	@echo "make docs      the manual as a site, in build/site"
	@echo "make man       the man page, as build/sanderling.1"
	@echo "make cldr      how 40 locales write dates and past times   (CLDR=folder of cldr-dates-full)"
	@echo "make binary    dist/sanderling, one file to install;  make package: .deb, .rpm, SBOM, checksums"
	@echo "make wheel     dist/sanderling-*.whl and the sdist, and tries them in an environment of their own"
	@echo "make newcomers each way to have the program, gone in an empty place; after make package wheel   (ARGS=\"pipx .deb\")"
	@echo "make release   dist/release: all of these, statement, notes, sums, signed with RELEASE_KEY=FILE;  release-join PARTS=\"a b\""
	@echo "make setup     what all of these need;  make lock: resolve pyproject.toml and requirements/*.in anew"

setup:
	@bin/setup check

run:
	@bin/setup run
	@exec bin/sanderling serve $(ARGS)

test:
	@bin/setup test
	@$(PYTEST) -m "not long" $(ARGS) || { code=$$?; $(TEST_HINT); exit $$code; }

test-long:
	@bin/setup test
	@$(PYTEST) -m long $(ARGS) || { code=$$?; $(TEST_HINT); exit $$code; }

check: lint
	$(PYTHON_IN) -m pytest tests/rules tests/docs

clients:
	@bin/setup test
	@$(PYTHON_IN) -m clients.generate

lint: clients
	@bin/setup check
	$(PYTHON_IN) -m ruff check .
	$(PYTHON_IN) -m ruff format --check .
	$(PYTHON_IN) -m mypy
	.venv/bin/lint-imports
	@$(PYTHON_IN) -m tests.rules.sizes

simulate:
	@bin/setup run
	@$(PYTHON_IN) -m tests.simulation $(SEED) $(ARGS)

walk:
	@bin/setup run
	@$(PYTHON_IN) -m tests.simulation --walk $(WORLDS)

simulate-d1:
	@bin/setup run
	@$(PYTHON_IN) -m tests.simulation 1..$(SEEDS) --only deliveries $(ARGS)
	@$(PYTHON_IN) -m tests.simulation 1..$(SEEDS) --only people $(ARGS)

bench:
	@bin/setup test
	-@bin/setup peers
	@$(PYTHON_IN) -m bench $(if $(PAGE),--page $(PAGE)) $(ARGS) $(WHAT)

bench-short:
	@bin/setup test
	-@bin/setup peers
	@$(PYTHON_IN) -m bench --short $(ARGS) $(WHAT)

bench-compare:
	@bin/setup test
	@$(PYTHON_IN) -m bench.compare $(ARGS) $(BASE) $(WHAT)

bench-stale:
	@bin/setup test
	@$(PYTHON_IN) -m bench.page

bench-cadence:
	@bin/setup test
	@$(PYTHON_IN) -m bench.cadence $(ARGS) $(TRACES)

bench-churn:
	@bin/setup test
	@$(PYTHON_IN) -m bench.churn $(ARGS) $(PAGES)

bench-kinds:
	@bin/setup test
	@$(PYTHON_IN) -m bench.kinds $(ARGS) $(PAGES)

bench-lists:
	@bin/setup test
	@$(PYTHON_IN) -m bench.item_lists $(PAGES)

bench-natural:
	@bin/setup test
	@$(PYTHON_IN) -m bench.natural $(ARGS) $(LOOKS)

torture:
	@bin/setup test
	@$(PYTHON_IN) -m bench.torture $(ARGS)

chaos:
	@bin/setup test
	@$(PYTHON_IN) -m bench.chaos $(ARGS)

torture-short:
	@bin/setup test
	@$(PYTHON_IN) -m bench.torture --short --seed $(SEED)

mutants:
	@bin/setup test
	@nice -n 19 $(PYTHON_IN) -m bench.mutants --count $(N) --seed $(SEED) $(ARGS)

fuzz:
	@bin/setup test
	@$(PYTHON_IN) -m bench.fuzz --seconds $(SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) $(ARGS)

bench-watch:
	@bin/setup test
	@$(PYTHON_IN) -m bench.watch $(ARGS)

languages:
	@bin/setup check
	@$(PYTHON_IN) -m tests.actors.language.gathering

docs:
	@bin/setup docs
	@PYTHONPATH=. $(PYTHON_IN) docs/site/build.py

man:
	@bin/setup run
	@mkdir -p build
	@PYTHONPATH=. $(PYTHON_IN) -m release.man >build/sanderling.1
	@echo build/sanderling.1

recording:
	@bin/setup run
	@$(PYTHON_IN) docs/site/recording.py

pictures:
	@bin/setup test
	@PYTHONPATH=. $(PYTHON_IN) -m pytest -q -n0 tests/api/browser/test_pages.py -k test_pictures
	@cp build/pictures/today-light-desktop.webp docs/pictures/today.webp
	@cp build/pictures/event-changed-light-desktop.webp docs/pictures/event.webp
	@cp build/pictures/alert-edited-dark-desktop.webp docs/pictures/alert.webp
	@cp build/pictures/start.webp build/pictures/cards.webp docs/pictures/
	@PYTHONPATH=. $(PYTHON_IN) -m tests.docs.pictures

cldr:
	@bin/setup test
	@PYTHONPATH=. $(PYTHON_IN) release/cldr.py $(CLDR)

lock:
	@bin/setup check
	for name in uv canaille; do $(COMPILE) $(ARGS) requirements/$$name.in -o requirements/$$name.txt || exit 1; done
	$(COMPILE) $(ARGS) pyproject.toml -o requirements/run.txt
	for name in test check; do \
	  $(COMPILE) $(ARGS) --extra test --extra postgres pyproject.toml requirements/$$name.in -o requirements/$$name.txt || exit 1; done
	for name in docs build peers; do \
	  $(COMPILE) $(ARGS) pyproject.toml requirements/$$name.in -o requirements/$$name.txt || exit 1; done

binary:
	@bin/setup build
	@release/build.sh

wheel: clients
	@bin/setup check
	@release/wheel.sh

.PHONY: newcomers
newcomers:
	@bin/setup check
	@PYTHONPATH=. $(PYTHON_IN) -m release.newcomers $(DIST) $(ARGS)

binary-check: binary
	@release/check.sh

package: binary
	@release/package.sh

.PHONY: release release-join
# The key is looked at before the long build. Making the binary clears dist/ of wheels, so these come after it.
release:
	@bin/setup check
	@$(PYTHON_IN) -m release.making ready $(PUBLISHED)
	@$(MAKE) --no-print-directory package
	@$(MAKE) --no-print-directory wheel
	@$(PYTHON_IN) -m release.making gather $(DIST) $(DIST)/release
	@$(PYTHON_IN) -m release.making finish $(DIST)/release $(PUBLISHED)

# PARTS: the folders that `make release` has made on several machines, of one commit.
release-join:
	@bin/setup check
	@$(PYTHON_IN) -m release.making ready $(PUBLISHED)
	@$(PYTHON_IN) -m release.making join $(DIST)/release $(PARTS)
	@$(PYTHON_IN) -m release.making finish $(DIST)/release $(PUBLISHED)

clean:
	rm -rf .venv .venv-build build dist .mypy_cache .ruff_cache .hypothesis
