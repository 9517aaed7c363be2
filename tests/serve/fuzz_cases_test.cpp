// Seeds and found cases of the fuzzers of requests, see scripts/fuzz.sh.
#include "fuzz/replay.h"
#include "fuzz/serve_targets.h"

namespace grm::fuzz {
namespace {

class ServeFuzzCases : public testing::TestWithParam<Target> {};

TEST_P(ServeFuzzCases, EachFileIsReadOrRefused) {
  replay(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ServeFuzzCases, testing::ValuesIn(kTargets), name_of);

}  // namespace
}  // namespace grm::fuzz
