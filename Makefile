# make demo   install what is missing, build, train ERM and GRM on the generated default
# make test   the same set-up, then all tests
# make        build only
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: all demo test build setup sanitize format format-check docs clean
all: build

setup:
	@bash scripts/setup.sh

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@mv $(BUILD).configure.log $(BUILD)/configure.log
	@ninja -C $(BUILD) -j $(JOBS)

demo: build
	@$(BUILD)/grm train --dataset sbm --method erm,grm,grm:centred --epochs 100

test: build
	@cd $(BUILD) && ctest --output-on-failure --no-tests=error
	@bash scripts/count_skipped.sh $(BUILD)

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
