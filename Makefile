# perilune - probabilistic modelling for Lua 5.4
#
#   make              build the module
#   make embed        for hosts in C: perilune.h, perilune.o and libperilune.a, the Lua files inside
#   make sources      the same as C files for any build system (one instruction set), in build/sources
#   make demo         install what is missing, build, and take a short tour
#   make repl         install what is missing, build, and give a prompt
#   make test         install what is missing, build, and run the specs
#   make lint         warnings of gcc and clang, luacheck, direction of includes and calls
#   make bench        speed beside PyTorch, one table a question
#   make posteriors   fits of fourteen real posteriors beside their exact answers
#   make verdicts     verdicts of fits beside known answers (half an hour)
#   make bench-models gradients and draws of models beside Stan and JAGS
#   make perf-guard   instructions of some calls beside their limits; UPDATE=1 sets these
#   make slow         time of calls on single elements of random laws, from SEED=: 50 ms at most
#   make composed     laws made of others against their draws, from SEED=, COUNT= of each class
#   make history      random calls in several orders and processes: the same bits? from SEED=, COUNT= of each class
#   make samplers     a million draws from every law, compared with it
#   make calibration  simulations and their posteriors by every way, steps of chains by turns with
#                     new data: right, and broken ones found out?
#   make bootstrap    standard errors of fits beside the spread of estimates from further data
#   make steps        a million steps of an optimiser: memory does not grow
#   make examples     run every example
#   make docs         write the reference, the help and the tables that are generated from the code
#   make mpi          perilune.mpi: several processes that work as one (docs/scaling.md); no other target needs it
#   make mpi-test     two and four of them: values beside those of one, bits, faults
#   make mpi-bench    how fits gain by ranks; writes bench/mpi.md
#   make mpi-install  perilune.mpi into PREFIX
#   make host         as an engine embeds it: faults, limits, states, threads; LONG=1 for faults at every place
#   make asan         the specs under AddressSanitizer and UBSan, in a Lua that checks its API;
#                     some of them while finalizers run whenever C allocates
#   make fuzz         random programs over the whole API, likewise, for SECONDS= or COUNT=, from SEED=
#   make mutate       COUNT= saved states with bits flipped and values changed, likewise, from SEED=
#   make coverage     the lines of C and Lua that specs and hosts run (a quarter of an hour of two cores)
#   make bits         the same bits from gcc, clang, -O0, -O3, baseline, AVX2
#   make platforms    the same bits from musl, 64-bit ARM, 32-bit x86, Windows, wasm (built here, run in emulators)
#   make luajit       the specs in LuaJIT 2.1, or with SOME=yes a third of them; make lua5.1, lua5.2, lua5.3
#                     likewise; make luas in all four
#   make bench-luas   speed of LuaJIT beside Lua 5.4
#   make love         the game of examples/love in LÖVE, without a screen; make love-play with one
#   make rock         luarocks lint, and luarocks make into a fresh tree
#   make install      module, header, library and pkg-config file into PREFIX (default /usr/local)
#   make clean
#
# Settings: CC, CFLAGS, PREFIX, LUA, LUA_INCDIR, BUILD, VARIANTS; EMBED_LUA = bytecode or source.

LUA_VERSION = 5.4
VERSION    := $(shell sed -n 's/^.define PERILUNE_VERSION  *"\(.*\)"/\1/p' include/perilune.h)
LUA        ?= lua$(LUA_VERSION)
LUA_INCDIR ?= /usr/include/lua$(LUA_VERSION)
PREFIX     ?= /usr/local
BUILD      ?= build/lua$(LUA_VERSION)
KERNEL_BUILD ?= $(BUILD)
INST_LUADIR ?= $(PREFIX)/share/lua/$(LUA_VERSION)
INST_LIBDIR ?= $(PREFIX)/lib/lua/$(LUA_VERSION)
INST_BINDIR ?= $(PREFIX)/bin
OPT        ?= -O3
OBJCOPY    ?= objcopy

# Debian and Ubuntu packages, for this file's own dependency step.
BUILD_PACKAGES = gcc make binutils libc6-dev lua5.4 liblua5.4-dev
TEST_PACKAGES  = $(BUILD_PACKAGES) lua-busted lua-dkjson luarocks
LINT_PACKAGES  = $(BUILD_PACKAGES) lua-check clang luarocks luajit
BENCH_PACKAGES = $(BUILD_PACKAGES) python3-torch
MODEL_PACKAGES = $(BUILD_PACKAGES) lua-dkjson python3-torch r-cran-rstan r-cran-posterior r-cran-rjags jags g++ libboost-dev
GUARD_PACKAGES = $(BUILD_PACKAGES) valgrind
ASAN_PACKAGES  = $(TEST_PACKAGES) dpkg-dev
PLATFORM_PACKAGES = $(BUILD_PACKAGES) dpkg-dev musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
                 gcc-i686-linux-gnu libc6-dev-i386-cross gcc-mingw-w64-x86-64 wine wine64 emscripten nodejs node-acorn llvm
OTHER_PACKAGES = $(TEST_PACKAGES) luajit libluajit-5.1-dev lua5.1 liblua5.1-0-dev lua5.2 liblua5.2-dev lua5.3 liblua5.3-dev
LOVE_PACKAGES  = $(BUILD_PACKAGES) luajit libluajit-5.1-dev love xvfb xauth
HOST_PACKAGES  = $(BUILD_PACKAGES) g++ pkg-config
MPI_PACKAGES   = $(BUILD_PACKAGES) libopenmpi-dev openmpi-bin

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
# IEEE arithmetic to the letter: nothing contracted, nothing reassociated. The
# two -fno options let loops with sqrt and selects vectorise; no value changes.
ARITHMETIC = -ffp-contract=off -fno-math-errno -fno-trapping-math
MACHINE   := $(shell $(CC) $(CFLAGS) -dumpmachine 2>/dev/null)
# 32-bit x86 computes in doubles, not in longer registers. For Windows nothing is reached by way of
# pointers that the linker makes, which do not outlive `ld -r`.
MACHINE_FLAGS = $(if $(filter i%86-%,$(MACHINE)),-msse2 -mfpmath=sse) \
                $(if $(filter x86_64-%-mingw32,$(MACHINE)),-mcmodel=small)
# Partials write several arrays: let compilers check as many pairs for overlap
# as it takes to vectorise them.
IS_CLANG  := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
VECTORISE  = $(if $(IS_CLANG),-mllvm -runtime-memory-check-threshold=100,--param=vect-max-version-for-alias-checks=100 \
             --param=vect-epilogues-nomask=0)
OWN_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(ARITHMETIC) $(MACHINE_FLAGS) $(WARNINGS) -fPIC \
             -fvisibility=hidden -fno-plt -Isrc -Iinclude -I$(LUA_INCDIR) -MMD -MP $(SANITIZE)

# The shell around the kernels is optimised as a whole when it is linked: its objects hold no machine code yet.
WHOLE = $(if $(IS_CLANG)$(SANITIZE),,-flto=auto)

# What to compute is compiled once for each instruction set, and joined into
# one object that shows a single name; the rest is compiled once.
VARIANTS  ?= baseline $(if $(filter x86_64-%,$(MACHINE)),avx2)
# gcc for Windows aligns the stack to 16 bytes, but not the vectors of 32 that it puts there.
FLAGS_avx2 = -mavx2 -mfma $(if $(filter %-mingw32,$(MACHINE)),$(if $(IS_CLANG),,-Wa,-muse-unaligned-vector-move))
# Before FMA, x86 gains nothing by vectors or inlining (see special/vector.h): most of the
# time is spent in software_fma. Files for x86-64 are optimised as a whole, which leaves one
# copy of each function that all of them have.
FLAGS_baseline = $(if $(filter x86_64-% i686-% wasm32-%,$(MACHINE)),$(if $(filter -O3,$(OPT)),-Os \
                 $(if $(filter x86_64-%,$(MACHINE)),$(WHOLE))))
# Nothing unwinds through a kernel: hooks that it lets run end before it goes on. The tables would be 5 % of the module.
TABLES     = $(if $(filter %-mingw32,$(MACHINE)),,-fno-asynchronous-unwind-tables)
KERNELS   := $(sort $(wildcard src/kernel/*.c src/kernel/*/*.c))
MATH      := $(KERNELS) $(sort $(wildcard src/special/*.c src/random/*.c src/linalg/*.c))
SHELL_SRC := $(sort $(wildcard src/api/*.c src/engine/*.c src/host/*.c src/autograd/*.c src/driver/*.c src/tensor/*.c \
                          src/sampler/*.c)) src/special/fma.c
OBJECTS    = $(SHELL_SRC:%.c=$(BUILD)/%.o) $(VARIANTS:%=$(KERNEL_BUILD)/kernels_%.o) \
             $(BUILD)/modules.o
EMBED_SRC := $(sort $(wildcard src/embed/*.c))
EMBED_OBJECTS = $(OBJECTS) $(EMBED_SRC:%.c=$(BUILD)/%.o) $(BUILD)/lua.o
MPI_LUA    = lua/perilune/mpi.lua
MODULES   := $(filter-out $(MPI_LUA),$(sort $(wildcard lua/perilune/*.lua lua/perilune/*/*.lua)))
HAVE       = $(if $(filter avx2,$(VARIANTS)),-DPERILUNE_HAVE_AVX2)

MODULE  = $(BUILD)/perilune/core.so
OBJECT  = $(BUILD)/perilune.o
LIBRARY = $(BUILD)/libperilune.a
TERMINAL = $(BUILD)/perilune/terminal.so
PTY     = $(BUILD)/pty.so
LUA_SRC := $(filter-out $(MPI_LUA),$(shell find lua -name '*.lua' | sort))
RUN     = LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='$(BUILD)/?.so;;'
BUSTED  = busted --lua=$(shell command -v $(LUA)) --run=default

.DELETE_ON_ERROR:
.PHONY: FORCE all demo repl pty test lint bench bench-models posteriors verdicts calibration perf-guard slow composed \
        history samplers steps \
        bootstrap examples docs host embed sources asan fuzz mutate coverage bits platforms luajit love love-play rock \
        install clean need-build need-test need-lint need-bench need-models need-guard need-asan need-host need-platforms \
        need-luas need-love mpi mpi-module mpi-test mpi-install mpi-bench need-mpi

all: $(MODULE) $(TERMINAL)
	@$(call progress)

.PHONY: objects
objects: $(OBJECTS)

embed: $(OBJECT) $(LIBRARY) $(BUILD)/perilune.h
	@$(call progress)

# --- building ---------------------------------------------------------------

# On a terminal one line says how far it is, written over and over; elsewhere there are only
# the last two steps. What compilers say shows in full, one file's after the other's.
# $(call progress,text), $(call compile,text,flags)
progress = $(if $(MAKE_TERMOUT),printf '\r\033[K%s' '$(1)',:)
counted  = $(eval DONE += x)$(if $(TOTAL),,$(eval TOTAL := $(files_to_compile)))[$(words $(DONE))/$(TOTAL)]
compile  = $(call progress,$(if $(MAKE_TERMOUT),$(counted) )$(1)); \
           $(CC) $(CFLAGS) $(OWN_CFLAGS) $(2) -c -o $@ $< 2> $@.said; status=$$?; \
           if [ -s $@.said ]; then $(call progress); cat $@.said >&2; fi; rm -f $@.said; exit $$status
files_to_compile = $(shell MAKEFLAGS= $(MAKE) -n TOTAL=0 CC='$(CC)' BUILD='$(BUILD)' \
                     KERNEL_BUILD='$(KERNEL_BUILD)' VARIANTS='$(VARIANTS)' all 2>/dev/null | grep -c 'said; status')

# All cores, unless a make above has said how many.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	@$(if $(MAKE_TERMOUT),$(call progress,link $@),echo "link $@")
	@$(CC) -shared $(LIBFLAG) $(SANITIZE) $(OPT) $(WHOLE) -o $@ $(OBJECTS) -lm -lpthread

# One object for hosts. It shows the names that perilune.h declares, and is plain machine code: what
# is optimised as a whole is so here, not in a host's link.
$(OBJECT): $(EMBED_OBJECTS) $(BUILD)/perilune.h
	@$(if $(MAKE_TERMOUT),$(call progress,link $@),echo "link $@")
	@$(if $(WHOLE),$(CC) $(OPT) $(WHOLE) -flinker-output=nolto-rel -nostdlib,$(LD)) -r -o $@.all $(EMBED_OBJECTS)
	@grep -oE '(luaopen_)?perilune[a-z_]* \(' $(BUILD)/perilune.h | tr -d ' (' > $@.names
	@$(OBJCOPY) --keep-global-symbols=$@.names $@.all $@ && rm -f $@.all $@.names

$(LIBRARY): $(OBJECT)
	@rm -f $@ && $(AR) rcs $@ $<

$(BUILD)/perilune.h: include/perilune.h
	@mkdir -p $(@D)
	@cp $< $@

SOURCES ?= build/sources
sources: $(EMBED_OBJECTS)
	@sh src/embed/sources $(SOURCES) $(BUILD) $(LUA) $(EMBED_LUA_SRC)

# The Lua files, but those of the prompt. As stripped bytecode they are two thirds of the size and load in a tenth of the time; as text they
# run in a Lua whose numbers or instructions were changed, too, and errors within them have lines.
EMBED_LUA ?= bytecode
EMBED_LUA_SRC = $(filter-out lua/perilune/repl%,$(LUA_SRC))
$(BUILD)/lua.o: $(BUILD)/lua.c src/embed/embed.h
	@$(CC) $(CFLAGS) $(OWN_CFLAGS) -c -o $@ $<

$(BUILD)/lua.c: src/embed/pack.lua $(EMBED_LUA_SRC) $(BUILD)/names Makefile
	@mkdir -p $(@D)
	@$(LUA) src/embed/pack.lua $@ $(EMBED_LUA) $(EMBED_LUA_SRC)

# What only the prompt needs, so that hosts have none of it; and a terminal that specs type at.
$(TERMINAL): src/terminal/terminal.c
	@mkdir -p $(@D)
	@$(call compile_module)

$(PTY): spec/support/pty.c
	@mkdir -p $(@D)
	@$(call compile_module)

compile_module = $(CC) $(CFLAGS) $(OWN_CFLAGS) -shared $(LIBFLAG) -o $@ $<

pty: $(PTY)

$(BUILD)/src/%.o: src/%.c
	@mkdir -p $(@D)
	@$(call compile,$<,$(WHOLE) $(HAVE))

# The names found by wildcard; touched only when one comes or goes, whatever the
# dates of the files.
$(sort $(BUILD)/names $(KERNEL_BUILD)/names): FORCE
	@mkdir -p $(@D)
	@echo $(KERNELS) $(MODULES) | cmp -s - $@ || echo $(KERNELS) $(MODULES) > $@

# The names of all files of lua/perilune, for hosts that cannot look into one.
$(BUILD)/modules.o: $(BUILD)/modules.c
	@$(CC) $(CFLAGS) $(OWN_CFLAGS) -c -o $@ $<

$(BUILD)/modules.c: $(BUILD)/names Makefile
	@mkdir -p $(@D)
	@{ echo 'extern const char *const perilune_modules[];'; \
	   echo 'const char *const perilune_modules[] = {'; \
	   for f in $(MODULES:lua/perilune/%.lua=%); do echo "  \"$$f\","; done; \
	   echo '  0'; echo '};'; \
	   echo 'extern const unsigned long perilune_kernel_files;'; \
	   echo 'const unsigned long perilune_kernel_files = $(words $(KERNELS));'; } > $@

define variant_rules
$(KERNEL_BUILD)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	@$$(call compile,$$< ($(1)),$$(VECTORISE) $$(TABLES) $$(FLAGS_$(1)))

$(KERNEL_BUILD)/$(1)/table.o: $(KERNEL_BUILD)/$(1)/table.c
	@$$(CC) $$(CFLAGS) $$(OWN_CFLAGS) -c -o $$@ $$<

$(KERNEL_BUILD)/$(1)/table.c: $(KERNEL_BUILD)/names Makefile
	@mkdir -p $$(@D)
	@{ echo '#include "kernel/kernel.h"'; \
	   echo 'extern const KernelFile perilune_kernels_$(1)[];'; \
	   for f in $(KERNELS:src/kernel/%.c=%); do \
	     echo "extern const Kernel perilune_$$$$(echo $$$$f | tr / _)[];"; done; \
	   echo 'const KernelFile perilune_kernels_$(1)[] = {'; \
	   for f in $(KERNELS:src/kernel/%.c=%); do \
	     echo "  {\"$$$$f\", perilune_$$$$(echo $$$$f | tr / _)},"; done; \
	   echo '  {NULL, NULL}'; echo '};'; } > $$@

$(KERNEL_BUILD)/kernels_$(1).o: $(KERNEL_BUILD)/$(1)/table.o $(MATH:%.c=$(KERNEL_BUILD)/$(1)/%.o)
	@$$(if $$(findstring -flto,$$(FLAGS_$(1))),$$(CC) -nostdlib -flinker-output=nolto-rel $$(ARITHMETIC) $$(TABLES) \
	     -fPIC $$(FLAGS_$(1)),$$(LD)) -r -o $$@.all $$^
	@$$(OBJCOPY) -w -G perilune_kernels_$(1) -G '__x86.get_pc_thunk.*' $$@.all $$@ && rm -f $$@.all
endef
$(foreach v,$(VARIANTS),$(eval $(call variant_rules,$(v))))

-include $(shell find $(sort $(BUILD) $(KERNEL_BUILD)) -name '*.d' 2>/dev/null)

# --- the two commands -------------------------------------------------------

demo: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) examples/tour.lua

repl: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) bin/perilune

test: need-test
	@$(MAKE) --no-print-directory -s $(JOBS) all pty
	@$(RUN) BUSTED='$(BUSTED)' sh spec/support/run spec

# --- several processes ------------------------------------------------------

# nodelete: what runs when the process ends must still be there.
MPICC  ?= mpicc
MPI_SO  = $(BUILD)/perilune/mpi_core.so
mpi: need-mpi
	@$(MAKE) --no-print-directory -s $(JOBS) all mpi-module

# Without perilune itself, as LuaRocks has it built.
mpi-module: $(MPI_SO)

$(MPI_SO): src/mpi/mpi.c include/perilune.h
	@mkdir -p $(@D)
	@$(MPICC) $(CFLAGS) $(OWN_CFLAGS) -shared $(LIBFLAG) -Wl,-z,nodelete -o $@ $<

mpi-test: mpi
	@$(RUN) LUA='$(LUA)' sh spec/mpi/run

# Wall clock: on a machine that does nothing else.
mpi-bench: mpi
	@BUILD='$(BUILD)' LUA='$(LUA)' MPICC='$(MPICC)' sh bench/mpi/run

mpi-install: mpi-module
	install -d $(INST_LIBDIR)/perilune $(INST_LUADIR)/perilune
	install -m 755 $(MPI_SO) $(INST_LIBDIR)/perilune/mpi_core.so
	install -m 644 $(MPI_LUA) $(INST_LUADIR)/perilune/mpi.lua

# --- quality ----------------------------------------------------------------

lint: need-lint
	@for cc in gcc clang; do \
	   echo "$$cc -fsyntax-only"; \
	   for f in $(MATH) $(SHELL_SRC) $(EMBED_SRC) $(wildcard src/terminal/*.c spec/support/*.c); do \
	     $$cc $(OWN_CFLAGS) -MF /dev/null -Werror -fsyntax-only $$f || exit 1; done; \
	   if command -v $(MPICC) > /dev/null; then \
	     $$cc $(OWN_CFLAGS) $$($(MPICC) -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ') -MF /dev/null -Werror \
	       -fsyntax-only src/mpi/mpi.c || exit 1; fi; done
	@sh .ci/includes
	@$(LUA) .ci/cycles
	@for f in $(LUA_SRC) $(MPI_LUA); do luajit -bl $$f > /dev/null || exit 1; done   # no // or <<, which it has not
	@luacheck -q lua spec examples bench docs
	@for f in *.rockspec; do luarocks --lua-version=$(LUA_VERSION) lint $$f || exit 1; done

bench: need-bench
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@CC='$(CC)' BUILD='$(BUILD)' LUA='$(LUA)' sh bench/run

posteriors: need-test
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) bench/posteriors.lua > bench/posteriors.new && mv bench/posteriors.new bench/posteriors.md
	@sed -n '/^| method/,/^$$/p' bench/posteriors.md

bench-models: need-models
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@BUILD='$(BUILD)' LUA='$(LUA)' bash bench/models/run

# Counts depend on the flags: a build of its own, all of it for AVX2 with FMA.
perf-guard: need-guard
	@$(MAKE) --no-print-directory -s $(JOBS) BUILD=build/guard CC=gcc CFLAGS= OPT=-O3 SANITIZE= \
	  VARIANTS=baseline FLAGS_baseline='$(FLAGS_avx2)' all
	@CC=gcc BUILD=build/guard LUA='$(LUA)' LUA_INCDIR='$(LUA_INCDIR)' UPDATE='$(UPDATE)' \
	  sh bench/guard/run

verdicts: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) bench/verdicts.lua

# CPU time: on a machine that does nothing else.
slow: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@LUA_PATH='lua/?.lua;lua/?/init.lua;./?.lua;;' LUA_CPATH='$(BUILD)/?.so;;' $(LUA) spec/long/slow.lua $(SEED) $(COUNT)

composed: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@LUA_PATH='lua/?.lua;lua/?/init.lua;./?.lua;;' LUA_CPATH='$(BUILD)/?.so;;' $(LUA) spec/long/composed.lua $(SEED) $(COUNT)

history: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@LUA_PATH='lua/?.lua;lua/?/init.lua;./?.lua;;' LUA_CPATH='$(BUILD)/?.so;;' $(LUA) spec/long/history.lua $(SEED) $(COUNT)

samplers: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) spec/long/samplers.lua

bootstrap: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) spec/long/bootstrap.lua

calibration: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) spec/long/calibration.lua

steps: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) spec/long/steps.lua

examples: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@for f in examples/*.lua; do echo "== $$f"; $(RUN) $(LUA) $$f || exit 1; done

docs: need-build
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(RUN) $(LUA) docs/write.lua
	@$(RUN) $(LUA) docs/pictures.lua

host: need-host
	@$(MAKE) --no-print-directory -s $(JOBS) all embed
	@CC='$(CC)' BUILD='$(BUILD)' LUA='$(LUA)' LUA_INCDIR='$(LUA_INCDIR)' LONG='$(LONG)' sh spec/host/run

# Specs about memory, which also run while finalizers do at every allocation.
MEMORY_SPECS = $(patsubst %,spec/%_spec.lua,finalizers deferred gradient/tape gradient/trace gradient/scan \
               gradient/waiting tensor/construct tensor/integers tensor/views tensor/print)

# What the sanitizers need: the module, and two Luas (see .ci/lua/build).
.PHONY: sanitized
sanitized: need-asan
	@CC='$(CC)' sh .ci/lua/build build/asan/lua
	@$(MAKE) --no-print-directory -s $(JOBS) BUILD=build/asan OPT='-O1 -g' \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' all

asan: sanitized
	@$(MAKE) --no-print-directory -s BUILD=build/asan LUA='$(CURDIR)/build/asan/lua/checking' run-specs
	@$(MAKE) --no-print-directory -s BUILD=build/asan LUA='$(CURDIR)/build/asan/lua/collecting' \
	  SPECS='--helper=spec/support/collect.lua $(MEMORY_SPECS)' run-specs

.PHONY: run-specs
run-specs: SPECS = spec
run-specs:
	@ASAN_OPTIONS=allocator_may_return_null=1 $(RUN) BUSTED='$(BUSTED)' sh spec/support/run $(SPECS)

# A host's limits of memory; what is there when a program ends is no leak.
FUZZ_ASAN = allocator_may_return_null=1:max_allocation_size_mb=1024:hard_rss_limit_mb=3000:detect_leaks=0

# With PLAIN=yes the usual build runs in the usual Lua: quicker, for CI.
fuzz: FUZZ_BUILD = $(if $(PLAIN),$(BUILD),build/asan)
fuzz: FUZZ_LUA   = $(if $(PLAIN),$(LUA),build/asan/lua/checking)
fuzz: $(if $(PLAIN),need-build,sanitized)
	@$(if $(PLAIN),$(MAKE) --no-print-directory -s $(JOBS) all)
	@LUA_PATH='lua/?.lua;lua/?/init.lua;./?.lua;;' LUA_CPATH='$(FUZZ_BUILD)/?.so;;' ASAN_OPTIONS='$(FUZZ_ASAN)' \
	  FUZZ_LUA='$(FUZZ_LUA)' FUZZ_PATIENCE=$(if $(PLAIN),3,10) FUZZ_SECONDS='$(SECONDS)' FUZZ_COUNT='$(COUNT)' \
	  FUZZ_SEED='$(SEED)' FUZZ_IGNORE='$(IGNORE)' $(LUA) spec/fuzz/main.lua

# Counts of lines are for one instruction set, the one that most machines have.
coverage: need-test need-host need-mpi
	@CC=gcc LUA='$(LUA)' LUA_INCDIR='$(LUA_INCDIR)' FLAGS='$(if $(filter x86_64-%,$(MACHINE)),$(FLAGS_avx2))' \
	  SPECS='$(SPECS)' KEEP='$(KEEP)' sh .ci/coverage/run

mutate: sanitized
	@LUA_PATH='lua/?.lua;lua/?/init.lua;./?.lua;;' LUA_CPATH='build/asan/?.so;;' ASAN_OPTIONS='$(FUZZ_ASAN)' \
	  FUZZ_LUA=build/asan/lua/checking FUZZ_PATIENCE=10 FUZZ_COUNT='$(COUNT)' FUZZ_SEED='$(SEED)' \
	  build/asan/lua/checking spec/fuzz/mutants.lua

bits: need-lint
	@sh .ci/bits

platforms: need-platforms
	@sh .ci/platforms/run $(ONLY)

# Other Luas get the module alone, and share the kernels of the usual build, which know nothing of Lua. What cannot
# hold in one of them is listed in spec/support/older.lua; the prompt and the fuzzer are written for Lua 5.3 and later.
OTHER_LUAS   = luajit lua5.1 lua5.2 lua5.3
OTHER_INCDIR = /usr/include/$(if $(filter luajit,$(1)),luajit-2.1,$(1))
# $(call other,lua)
other = $(MAKE) --no-print-directory -s BUILD=build/$(1) KERNEL_BUILD='$(BUILD)' LUA=$(1) LUA_INCDIR=$(OTHER_INCDIR)
OTHER_SPECS  = $(filter-out $(patsubst %,spec/%_spec.lua,prompt fuzz mutate log_tails composed cusps history round_trip),$(sort $(shell find spec -name '*_spec.lua')))
# With SOME=yes those that see most of what a Lua can do otherwise.
SOME_SPECS   = spec/tensor spec/data spec/special spec/random spec/kl $(patsubst %,spec/%_spec.lua,classes constraints \
               construct errors finalizers help hostile integers kl_div kl_rules matrices model nuts op optim pack \
               reference rows running transforms) $(patsubst %,spec/gradient/%_spec.lua,operators scan tape trace \
               waiting) $(patsubst %,spec/distributions/%_spec.lua,Beta Categorical MixtureSameFamily \
               MultivariateNormal Normal Poisson Truncated VonMises)

.PHONY: luas lua5.1 lua5.2 lua5.3
luas: $(OTHER_LUAS)
$(OTHER_LUAS): need-luas
	@$(call other,$@) $(JOBS) build/$@/perilune/core.so
	@$(call other,$@) SPECS='--helper=spec/support/older.lua $(if $(SOME),$(SOME_SPECS),$(OTHER_SPECS))' run-specs

.PHONY: bench-luas
bench-luas: need-luas
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@$(call other,luajit) $(JOBS) build/luajit/perilune/core.so
	@$(LUA) bench/luas.lua 'Lua 5.4' $(LUA) $(BUILD) \
	  'Lua 5.4, incremental' "$(LUA) -e 'collectgarbage \"incremental\"'" $(BUILD) LuaJIT luajit build/luajit

LOVE = LUA_PATH='$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;' LUA_CPATH='$(CURDIR)/build/luajit/?.so;;'
love: need-love
	@$(call other,luajit) $(JOBS) build/luajit/perilune/core.so
	@$(LOVE) xvfb-run -a -s '-screen 0 1024x768x24' love examples/love --demo $(CURDIR)/build/luajit/love.png
	@echo "see build/luajit/love.png"

love-play: need-love
	@$(call other,luajit) $(JOBS) build/luajit/perilune/core.so
	@$(LOVE) love examples/love

rock: need-test
	luarocks --lua-version=$(LUA_VERSION) lint perilune-scm-1.rockspec
	tree=$$(mktemp -d) && luarocks --lua-version=$(LUA_VERSION) make --tree=$$tree \
	  perilune-scm-1.rockspec && cd / && LUA_PATH="$$tree/share/lua/5.4/?.lua;$$tree/share/lua/5.4/?/init.lua" \
	  LUA_CPATH="$$tree/lib/lua/5.4/?.so" $(LUA) -e 'print(require"perilune".Normal(0, 1))' && rm -rf $$tree

# LuaRocks has the module installed, nothing else.
install: install-module install-embed

.PHONY: install-module install-embed
install-module: all
	install -d $(INST_LIBDIR)/perilune
	install -m 755 $(MODULE) $(INST_LIBDIR)/perilune/core.so
	install -m 755 $(TERMINAL) $(INST_LIBDIR)/perilune/terminal.so
	install -d $(INST_BINDIR)
	sed '1s|lua5.4|$(notdir $(LUA))|' bin/perilune > $(INST_BINDIR)/perilune && chmod 755 $(INST_BINDIR)/perilune
	@for f in $(LUA_SRC:lua/%=%); do \
	   install -D -m 644 lua/$$f $(INST_LUADIR)/$$f || exit 1; done

install-embed: embed
	install -d $(PREFIX)/include $(PREFIX)/lib/pkgconfig
	install -m 644 include/perilune.h $(PREFIX)/include/perilune.h
	install -m 644 $(LIBRARY) $(PREFIX)/lib/libperilune.a
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: perilune' \
	  'Description: probabilistic modelling: distributions, divergences, inference' 'Version: $(VERSION)' \
	  'Requires: lua$(LUA_VERSION)' 'Cflags: -I$${prefix}/include' \
	  'Libs: -L$${prefix}/lib -lperilune -lm -lpthread' > $(PREFIX)/lib/pkgconfig/perilune.pc

clean:
	rm -rf build

# --- packages ---------------------------------------------------------------

need-build: PACKAGES = $(BUILD_PACKAGES)
need-test:  PACKAGES = $(TEST_PACKAGES)
need-lint:  PACKAGES = $(LINT_PACKAGES)
need-bench: PACKAGES = $(BENCH_PACKAGES)
need-models: PACKAGES = $(MODEL_PACKAGES)
need-guard: PACKAGES = $(GUARD_PACKAGES)
need-asan:  PACKAGES = $(ASAN_PACKAGES)
need-platforms: PACKAGES = $(PLATFORM_PACKAGES)
need-luas:  PACKAGES = $(OTHER_PACKAGES)
need-love:  PACKAGES = $(LOVE_PACKAGES)
need-host:  PACKAGES = $(HOST_PACKAGES)
need-mpi:   PACKAGES = $(MPI_PACKAGES)
need-build need-test need-lint need-bench need-models need-guard need-asan need-host need-platforms need-luas \
need-love need-mpi:
	@sh .ci/need $(PACKAGES)
