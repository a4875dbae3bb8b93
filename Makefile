# The one entry: everything a fresh Debian 12 with Swift 6 needs, these targets install themselves.
.PHONY: reliability openapi acceptance systems help deps build demo-programs demo test example docs tamper soak sim mutants lint rooms bench bench-peers bench-full bench-scale bench-search bench-gate bench-guests deb deb-test monitoring-tools gates gates-update clients fuzz hostile hostile-venv crash-images asan tsan install clean pages-test

SWIFT ?= swift
PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = $(SHARE)/bash-completion/completions
MINUTES ?= 10
SEED ?=
SEEDS ?= 10000
JOBS ?= $(shell nproc)
IMAGES ?= 1000
PACKAGES := pkg-config libsqlite3-dev uuid-dev libssl-dev libsodium-dev libevent-dev libzstd-dev libcurl4-openssl-dev zlib1g-dev \
  protobuf-compiler zstd
SYSTEMS := drbot chatbot messenger arrive chatgpt imported accounts

help:
	@echo 'make demo      two nodes on loopback, cut off and reunited; a bot, a search, the console (installs what is missing, builds)'
	@echo 'make test      all tests (installs what is missing)'
	@echo 'make example   builds and runs Examples/Embedding: a program that uses the two libraries'
	@echo 'make docs      the pages of the two libraries (DocC) in .build/docs, for any web server'
	@echo 'make tamper    flips every STEP-th bit of the files of a store: docs/reference/RELIABILITY.md'
	@echo 'make soak      real daemons killed, stopped and cut off for MINUTES=10, and all dialogues of ../shared/data; SEED=n for the same faults again'
	@echo 'make acceptance  the five systems, feed, subscriptions, access, API, gateway and documents as promised: workers, daemons and nodes die; strangers ask [ONLY="3 12"]'
	@echo 'make systems   the five systems of docs/reference/SEEDS.md and their accounts alone, each at two nodes that are peers (SILLOK_BIN names other binaries)'
	@echo 'make sim       SEEDS=10000 clusters in virtual time, with all faults, after planted defects; SEED=n replays one, shrunk if it fails'
	@echo 'make mutants   plants faults, one at a time, and fails when the tests miss one (ONLY="3 45")'
	@echo 'make clients   the clients in Python and JavaScript, sillok-hook, sillok-bot and sillok-gateway, against real daemons (SILLOK_BIN names other binaries)'
	@echo 'make pages-test  the pages in headless Chromium, with every role, by keyboard, and with axe-core [PAGES_PICTURES=1 writes docs/pictures]'
	@echo 'make lint      swift format lint --strict; whether all faults of make mutants can still be planted'
	@echo 'make rooms     writes the table of rooms, the five walks and the public symbols into docs, from Tests/TidyTests'
	@echo 'make bench     benchmarks beside C floors and installed peers; bench-peers installs them, bench-full takes half an hour'
	@echo 'make bench-gate  no answer may grow with the log: bytes read, from two small stores'
	@echo 'make bench-guests long readers beside appends: the longest wait of an append, and both WALs [RATE=10000] [SIZES=1000000]'
	@echo 'make bench-scale  how the cost of an answer grows with the log, beside PostgreSQL [SIZES=100000,1000000]'
	@echo 'make bench-search  words in 564,806 Korean texts, beside pg_trgm of PostgreSQL [TEXTS=100000]; EXACT=10000 compares with a walk'
	@echo 'make gates     allocations, syncs, bytes and instructions of fixed workloads against what is allowed'
	@echo 'make fuzz      libFuzzer on all that reads bytes of strangers [SECONDS=60] [TARGET=session]'
	@echo 'make hostile   a second peer, written from the documents: conformance of the wire, attacks, floods, with limits [ONLY=name]'
	@echo 'make crash-images  power cuts computed from recordings of a daemon at work [IMAGES=1000] [SEED=n] [ONLY=batches,snapshot]'
	@echo 'make reliability  all of these that try to lose or change something, quickly, and their tables: docs/reference/RELIABILITY.md [FULL=1] [ONLY=kills,rollback] [AGAIN=1]'
	@echo 'make asan      all tests under AddressSanitizer; make tsan: under ThreadSanitizer [FILTER=name]'
	@echo 'make deb       a Debian package of syncd, syncctl, sillok-bot and sillok-gateway, with units, in .build/deb; make deb-test installs, upgrades and removes it (root)'
	@echo 'make monitoring-tools  promtool from Debian, for the tests of metrics and alerts, without the server it comes with'
	@echo 'make install   syncd, syncctl, sillok-bot and sillok-gateway with manual pages and completions for bash, zsh and fish, into $(PREFIX)'

deps:
	@Scripts/install-packages $(PACKAGES)

build: demo-programs
	$(SWIFT) build -c release --product sillok-gateway

# What the demo starts.
demo-programs: deps
	$(SWIFT) build -c release --product syncd
	$(SWIFT) build -c release --product syncctl
	$(SWIFT) build -c release --product sillok-bot

demo: demo-programs
	@Scripts/demo .build/release

test: deps
	@Scripts/install-packages python3 python3-cryptography
	@Scripts/install-packages zsh fish || echo 'zsh and fish cannot be had: the tests of their completions are skipped' >&2
	@$(MAKE) --no-print-directory monitoring-tools || echo 'promtool cannot be had: its test is skipped' >&2
	$(SWIFT) build --build-tests
	@$(MAKE) --no-print-directory hostile-venv || echo 'the packages of Tests/Hostile cannot be had: its quick part is skipped' >&2
	Scripts/run-tests "$$($(SWIFT) build --show-bin-path)"
	@echo 'the pages were not tried in a browser here: make pages-test'

# A package of its own, so it sees what is public and no more. What `make test` has compiled of the libraries is not compiled again.
example: deps
	@# SwiftPM does not always notice new files of a package that is named by its path: the plan is made anew.
	@rm -f .build/debug.yaml
	$(SWIFT) build --package-path Examples/Embedding --scratch-path $(CURDIR)/.build
	timeout 120 .build/debug/embedding

docs: deps
	@SWIFT='$(SWIFT)' Scripts/docs .build/docs

# What fails is kept in .build/crash-images, to be tried again (Tests/CrashImages/__main__.py).
crash-images: build
	@Scripts/install-packages gcc libc6-dev python3
	@python3 -B Tests/CrashImages --programs .build/release --images $(IMAGES) --jobs $(JOBS) --keep .build/crash-images \
	  $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

# Runs the rigs whose results are missing in .build/reliability, some ten minutes without the builds, and writes the page. FULL=1: hours.
reliability: build hostile-venv
	@Scripts/install-packages gcc libc6-dev python3 python3-cryptography
	$(SWIFT) build -c release --product sillok-sim
	$(SWIFT) build --build-tests
	@python3 -B Tests/Reliability --programs .build/release --tests "$$($(SWIFT) build --show-bin-path)/sillokPackageTests.xctest" --jobs $(JOBS) \
	  $(if $(FULL),--full) $(if $(ONLY),--only $(ONLY)) $(if $(AGAIN),--again) $(if $(SEED),--seed $(SEED))

# Every STEP-th bit of a small store's files; STEP=1 takes hours.
tamper: deps
	$(SWIFT) build --build-tests
	SILLOK_TAMPER_STEP=$(or $(STEP),101) $(SWIFT) test --skip-build --no-parallel --filter TamperMatrixTests

soak: deps
	$(SWIFT) build --build-tests
	SILLOK_SOAK_SECONDS=$$(($(MINUTES) * 60)) SILLOK_SOAK_SEED=$(SEED) SILLOK_PICTURE_ROUNDS=50 \
	  $(SWIFT) test --skip-build --no-parallel --filter 'SoakTests|TwoDaemonsTests|AttachmentProgramTests.pictures'
	SILLOK_THOROUGH=1 $(SWIFT) test --skip-build --no-parallel --filter "$$(grep -rl 'cases(' Tests --include='*Tests.swift' | \
	  sed 's,.*/,,; s,\.swift$$,,' | paste -sd'|')"

# Built with the optimizer: a seed takes a seventh of a second. Before many seeds, whether each planted defect is found, and each fault met
# (by seeds up to 240).
sim: OPTIMIZED = $(if $(SILLOK_OPTIMIZED),,-c release) --product sillok-sim
sim: deps
	$(SWIFT) build $(OPTIMIZED)
	$(if $(SEED),,"$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)/sillok-sim" defects --jobs $(JOBS))
	$(if $(SEED),,"$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)/sillok-sim" coverage --jobs $(JOBS))
	"$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)/sillok-sim" $(if $(SEED),replay $(SEED),run $(SEEDS) --from 241 --jobs $(JOBS))

# One build of a copy holds all faults; an environment variable chooses one (Tests/Mutants/faults.py).
mutants: deps
	@Scripts/install-packages python3
	@python3 -B Tests/Mutants/run.py $(ONLY)

# Some three minutes; daemons in temporary folders. Node 18 or later.
clients: $(if $(SILLOK_BIN),,deps)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product syncd)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product syncctl)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product sillok-bot)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product sillok-gateway)
	@command -v python3 >/dev/null || Scripts/install-packages python3
	@command -v node >/dev/null || Scripts/install-packages nodejs
	python3 -B -W ignore::ResourceWarning -m unittest discover -s Tests/Clients -t Tests/Clients
	node --test Tests/Clients/

# The pages for browsers, in Debian's Chromium against real daemons. What needs no browser is in `make test`, too.
pages-test: $(if $(SILLOK_BIN),,deps)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product syncd)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product syncctl)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product sillok-gateway)
	$(if $(SILLOK_BIN),,$(SWIFT) build --product sillok-bot)
	@command -v node >/dev/null || Scripts/install-packages nodejs
	@Scripts/install-packages chromium chromium-driver fonts-noto-cjk python3-selenium
	@Tests/Pages/fetch-axe || echo 'axe-core cannot be had: its test is skipped' >&2
	PAGES_REQUIRED=1 python3 -B -W ignore::ResourceWarning -m unittest discover -v -s Tests/Pages -t Tests/Pages

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Examples
	@Scripts/install-packages python3
	@python3 -B Tests/Mutants/run.py --check

# The document of the API, of the table of its routes.
openapi: build
	@Scripts/install-packages python3
	.build/debug/syncd --openapi | python3 -m json.tool --no-ensure-ascii --indent 1 > docs/openapi.json

rooms: deps
	$(SWIFT) build --build-tests
	SILLOK_WRITE_ROOMS=1 $(SWIFT) test --skip-build --no-parallel --filter 'RoomTests|WalkTests|PublicSymbolTests'

bench: deps
	@Scripts/install-packages gcc libc6-dev strace python3
	@Benchmarks/compare --size quick

# Debian starts the services it installs; the benchmarks start servers of their own, in temporary folders.
bench-peers: deps
	@Scripts/install-packages gcc libc6-dev strace python3 python3-venv postgresql-15 libpq-dev redis-server libhiredis-dev \
	  nats-server libnats-dev prosody lua-dbi-sqlite3
	@[ -x .build/peers/venv/bin/python ] || python3 -m venv .build/peers/venv
	@.build/peers/venv/bin/pip install --quiet --disable-pip-version-check 'eventsourcing==9.5.6'

bench-full: bench-peers
	@Benchmarks/compare --size full
	@Benchmarks/compare --size full --report

bench-scale: build bench-peers
	@Benchmarks/scale $(if $(SIZES),--sizes $(SIZES)) --report

# Real Korean texts, beside pg_trgm: needs ../shared/data/ko_nsmc.
bench-search: build bench-peers
	@Benchmarks/search $(if $(TEXTS),--texts $(TEXTS)) $(if $(EXACT),--exact $(EXACT),--report)

# Two small stores, some twenty seconds. What is read does not depend on optimisation: the programs of `make test` will do.
bench-gate: deps
	@Scripts/install-packages python3
	$(SWIFT) build --product syncctl
	@Benchmarks/scale --gate --programs .build/debug

# Long readers beside appended events: how long an append waits, and how long the WALs become.
bench-guests: build
	@Benchmarks/scale --guests $(or $(RATE),10000) --sizes $(or $(SIZES),1000000)

# Instructions are counted by valgrind; where it cannot be had, the other counts still are.
gates gates-update: deps
	@Scripts/install-packages valgrind || echo 'valgrind cannot be installed' >&2
	@Benchmarks/gates/run $(if $(filter gates,$@),check,update)

fuzz: deps
	@Scripts/fuzz $(or $(SECONDS),60) $(TARGET)

# Some ten minutes; daemons on loopback, in temporary folders. SYNCD and SYNCCTL name other binaries than those just built.
# What the documents of following, access and the API promise, from outside: workers, daemons and nodes die; thousands follow; strangers
# ask for what is not theirs; no request gets an answer that docs/openapi.json does not have. Half an hour. A full disk needs root.
# What each check shows, and the variables of those that have a longer form: Tests/Acceptance/README.md.
# The five systems come first, without ONLY, which names checks of the others.
acceptance: build
	@Scripts/install-packages python3 openssl
	@failed=0; $(if $(ONLY),,$(MAKE) --no-print-directory systems SILLOK_BIN=$(CURDIR)/.build/release || failed=1;) \
	  for name in subscriptions joining feed access sight actors api fuzz idle bounds gateway documents; do \
	  SILLOK_BIN=$(CURDIR)/.build/release python3 -B Tests/Acceptance/$$name.py $(ONLY) || failed=1; done; exit $$failed

# Below a minute; daemons, bots and a gateway in temporary folders. KEEP=1 leaves there what fails.
systems: $(if $(SILLOK_BIN),,build)
	@command -v python3 >/dev/null && command -v openssl >/dev/null || Scripts/install-packages python3 openssl
	@failed=0; for name in $(SYSTEMS); do \
	  SILLOK_BIN=$(or $(SILLOK_BIN),$(CURDIR)/.build/release) python3 -B Tests/Acceptance/systems/$$name.py || failed=1; done; exit $$failed

hostile: build hostile-venv
	@Tests/Hostile/run --syncd $(or $(SYNCD),.build/release/syncd) --syncctl $(or $(SYNCCTL),.build/release/syncctl) \
	  $(if $(ONLY),--only $(ONLY))

hostile-venv:
	@Scripts/install-packages python3 python3-venv
	@[ -x .build/hostile/venv/bin/python ] || python3 -m venv .build/hostile/venv
	@.build/hostile/venv/bin/python -c 'import OpenSSL, cryptography, zstandard' 2>/dev/null || \
	  .build/hostile/venv/bin/pip install --quiet --disable-pip-version-check 'cryptography>=42' 'pyOpenSSL>=24' 'zstandard>=0.22'

# Each with a build folder of its own; slow, so not part of CI. Leaks are not looked for: Foundation's Process and XCTest,
# which only tests use, have some. A small quarantine, for some tests measure memory.
asan tsan: deps
	ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 $(SWIFT) test --sanitize=$(if $(filter asan,$@),address,thread) --scratch-path .build/$@ --no-parallel \
	  $(if $(FILTER),--filter '$(FILTER)')

install: build
	install -D -m 755 .build/release/syncd $(DESTDIR)$(PREFIX)/bin/syncd
	install -D -m 755 .build/release/syncctl $(DESTDIR)$(PREFIX)/bin/syncctl
	install -D -m 755 .build/release/sillok-bot $(DESTDIR)$(PREFIX)/bin/sillok-bot
	install -D -m 755 .build/release/sillok-gateway $(DESTDIR)$(PREFIX)/bin/sillok-gateway
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8 $(COMPLETIONS)
	.build/release/syncctl --generate man > $(DESTDIR)$(PREFIX)/share/man/man1/syncctl.1
	.build/release/syncd --generate man > $(DESTDIR)$(PREFIX)/share/man/man8/syncd.8
	.build/release/sillok-bot --generate man > $(DESTDIR)$(PREFIX)/share/man/man8/sillok-bot.8
	.build/release/sillok-gateway --generate man > $(DESTDIR)$(PREFIX)/share/man/man8/sillok-gateway.8
	install -d $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -D -m 755 Scripts/verify.py $(SHARE)/doc/syncd/examples/verify.py
	install -d $(SHARE)/doc/syncd/examples/sillok_verify
	install -m 644 Scripts/sillok_verify/*.py $(SHARE)/doc/syncd/examples/sillok_verify/
	for program in syncctl syncd sillok-bot sillok-gateway; do \
	  .build/release/$$program --generate bash > $(COMPLETIONS)/$$program; \
	  .build/release/$$program --generate zsh > $(SHARE)/zsh/site-functions/_$$program; \
	  .build/release/$$program --generate fish > $(SHARE)/fish/vendor_completions.d/$$program.fish; \
	done

deb: build
	@Scripts/deb.sh

# The second version is the same programs once more: what is tried is the way from one to the next.
deb-test: build
	@Scripts/install-packages python3 systemd init-system-helpers procps
	@Scripts/deb-test.sh $$(Scripts/deb.sh --out .build/deb --revision 1 2>/dev/null) \
	  $$(Scripts/deb.sh --out .build/deb/next --revision 2 2>/dev/null)

# Debian's package would start a server: only the one file is taken.
monitoring-tools:
	@command -v promtool >/dev/null || { mkdir -p .build/promtool && cd .build/promtool && apt-get download prometheus && \
	  dpkg-deb -x prometheus_*.deb . && install -m 755 usr/bin/promtool /usr/local/bin/promtool; }

clean:
	rm -rf .build build
