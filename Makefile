# make demo   install what is missing, build the program, train ERM and GRM on the generated default
# make        build the program
# make test   the same with what tests need, then all tests; what was skipped is named at the end
# make deb    a Debian package of the program
# make python the Python package in build/python, for PYTHONPATH; `pip install .` installs it
# Warnings do not stop the build; with WERROR=ON they do.
BUILD ?= build
JOBS ?= $(shell nproc)
WERROR ?= OFF
CMAKE_ARGS ?=

.PHONY: all demo test build setup deb python sanitize format format-check docs clean
all: build

setup:
	@bash scripts/setup.sh $(SETUP)

# configure FOLDER,OPTIONS: quiet unless it fails.
define configure
	@mkdir -p $(1)
	@cmake -S . -B $(1) -G Ninja -DGRM_WERROR=$(WERROR) $(2) $(CMAKE_ARGS) > $(1)/configure.log 2>&1 || { cat $(1)/configure.log; exit 1; }
endef

# A new folder begins without tests: the program alone takes half the time.
build: setup
	$(call configure,$(BUILD),$(if $(wildcard $(BUILD)/CMakeCache.txt),,-DGRM_BUILD_TESTS=OFF -DGRM_BUILD_BENCH=OFF))
	@ninja -C $(BUILD) -j $(JOBS) grm

demo: build
	@$(BUILD)/grm train --dataset sbm --method erm,grm,grm:centred --epochs 100

# What only tests need is installed here, and what was skipped all the same is said at the end.
test: SETUP := test
test: setup
	$(call configure,$(BUILD),-DGRM_BUILD_TESTS=ON -DGRM_BUILD_BENCH=ON -DGRM_PYTHON=AUTO)
	@ninja -C $(BUILD) -j $(JOBS)
	@cd $(BUILD) && { ctest -j $(JOBS) --output-on-failure --no-tests=error -O Testing/summary.log; code=$$?; } && \
	  bash $(CURDIR)/scripts/count_skipped.sh . && exit $$code

# A package is for other machines: kernels for several processors, no path of this folder.
deb: SETUP := deb
deb: setup
	$(call configure,build-deb,-DGRM_BUILD_TESTS=OFF -DGRM_BUILD_BENCH=OFF -DGRM_CPU_VARIANTS=all -DCMAKE_CXX_FLAGS=-fmacro-prefix-map=$(CURDIR)/=)
	@ninja -C build-deb -j $(JOBS) grm
	@cd build-deb && cpack > cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build-deb/*.deb

# A folder that was configured for tests stays so.
python: SETUP := python
python: setup
	$(call configure,$(BUILD),-DGRM_PYTHON=ON $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DGRM_BUILD_TESTS=OFF -DGRM_BUILD_BENCH=OFF))
	@ninja -C $(BUILD) -j $(JOBS) grm_python
	@echo "ready: PYTHONPATH=$(CURDIR)/$(BUILD)/python $$(cat $(BUILD)/python/interpreter)"

# Unit tests under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: SETUP := test
sanitize: setup
	$(call configure,build-sanitize,-DGRM_SANITIZE=ON -DGRM_BUILD_BENCH=OFF)
	@ninja -C build-sanitize -j $(JOBS)
	@cd build-sanitize && ASAN_OPTIONS=detect_leaks=0 ctest --output-on-failure -L unit

format:
	@git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

format-check:
	@git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror

docs: build
	@$(BUILD)/grm options --markdown > docs/options.md

clean:
	rm -rf build build-deb build-sanitize build-python
