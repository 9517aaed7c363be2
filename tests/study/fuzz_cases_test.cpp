// Seeds and found cases of the fuzzers of what runs and studies read, see scripts/fuzz.sh.
#include "fuzz/replay.h"
#include "fuzz/train_targets.h"

namespace grm::fuzz {
namespace {

class RunFuzzCases : public testing::TestWithParam<Target> {};

TEST_P(RunFuzzCases, EachFileIsReadOrRefused) {
  replay(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, RunFuzzCases, testing::ValuesIn(kTargets), name_of);

}  // namespace
}  // namespace grm::fuzz
