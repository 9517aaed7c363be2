// Seeds and found cases of the fuzzers of folders of own data, see scripts/fuzz.sh.
#include "fuzz/data_targets.h"
#include "fuzz/replay.h"

namespace grm::fuzz {
namespace {

class OwnDataFuzzCases : public testing::TestWithParam<Target> {};

TEST_P(OwnDataFuzzCases, EachFileIsReadOrRefused) {
  replay(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, OwnDataFuzzCases, testing::ValuesIn(kTargets), name_of);

}  // namespace
}  // namespace grm::fuzz
