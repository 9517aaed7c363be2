// Seeds and found cases of the fuzzers of io, see scripts/fuzz.sh.
#include "fuzz/io_targets.h"
#include "fuzz/replay.h"

namespace grm::fuzz {
namespace {

class IoFuzzCases : public testing::TestWithParam<Target> {};

TEST_P(IoFuzzCases, EachFileIsReadOrRefused) {
  replay(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, IoFuzzCases, testing::ValuesIn(kTargets), name_of);

}  // namespace
}  // namespace grm::fuzz
