# make demo   install what is missing, build, train ERM and GRM on the generated default
# make test   the same with what tests need, then all tests; what was skipped is named at the end
# make        build only
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: all demo test build setup sanitize format format-check docs clean
all: build

setup:
	@bash scripts/setup.sh $(SETUP)

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@mv $(BUILD).configure.log $(BUILD)/configure.log
	@ninja -C $(BUILD) -j $(JOBS)

demo: build
	@$(BUILD)/grm train --dataset sbm --method erm,grm,grm:centred --epochs 100

# What only tests need is installed here, and what was skipped all the same is said at the end.
test: SETUP := test
test: build
	@cd $(BUILD) && { ctest -j $(JOBS) --output-on-failure --no-tests=error -O Testing/summary.log; code=$$?; } && \
	  bash $(CURDIR)/scripts/count_skipped.sh . && exit $$code

# Unit tests under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: setup
	@cmake -S . -B build-sanitize -G Ninja -DGRM_SANITIZE=ON -DGRM_BUILD_BENCH=OFF > /dev/null
	@ninja -C build-sanitize -j $(JOBS)
	@cd build-sanitize && ASAN_OPTIONS=detect_leaks=0 ctest --output-on-failure -L unit

format:
	@git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

format-check:
	@git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror

docs: build
	@$(BUILD)/grm options --markdown > docs/options.md

clean:
	rm -rf build build-sanitize
