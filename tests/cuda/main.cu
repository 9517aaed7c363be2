// The self-test of the CUDA kernels:  selftest [--small] [--no-times | --times-only]
#include "harness.h"

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  test::Size size{false};
  bool tests = true, times = true;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--small") size.small = true;
    if (std::string(argv[k]) == "--no-times") times = false;
    if (std::string(argv[k]) == "--times-only") tests = false;
  }
  try {
    if (tests) {
      test::test_sparse(size);
      test::test_edges(size);
      test::test_messages(size);
      test::test_generator(size);
      test::test_nn(size);
      test::test_methods(size);
      test::test_editors(size);
      test::test_graph(size);
      test::test_ego(size);
    }
    if (times && !size.small) test::measure();
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
  if (!tests) return 0;
  int failed = 0, cases = 0;
  std::printf("\n| %-40s | cases | worst error | limit | same bits |\n|---|---|---|---|---|\n",
              "kernel");
  for (const auto& [name, row] : test::table()) {
    const bool good = row.worst <= row.limit && row.same_bits;
    failed += good ? 0 : 1;
    cases += row.cases;
    std::printf("| %-40s | %5d | %.2e | %.0e | %s |%s\n", name.c_str(), row.cases, row.worst,
                row.limit, row.same_bits ? "yes" : "NO", good ? "" : " FAILED");
  }
  std::printf("%d kernels and types, %d cases twice each, %d failed\n",
              static_cast<int>(test::table().size()), cases, failed);
  return failed == 0 ? 0 : 1;
}
