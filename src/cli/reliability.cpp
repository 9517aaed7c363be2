#include "cli/reliability.h"

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/terminal.h"

namespace grm::cli {
namespace {

// Bounds of a bin in percent.
double bound(size_t k) {
  return 100.0 * static_cast<double>(k) / static_cast<double>(kReliabilityBins);
}

}  // namespace

void add_reliability(ordered_json& entry, const BeforeAfter& both) {
  const Reliability& r = both.after;
  entry["ece"] = r.ece;
  entry["ece_raw"] = both.before.ece;
  entry["confidence"] = r.confidence;
  entry["accuracy"] = r.accuracy;
  entry["nll"] = r.nll;
  entry["reliability"] = ordered_json::array();
  for (size_t k = 0; k < r.bins.size(); ++k) {
    const ReliabilityBin& bin = r.bins[k];
    if (bin.count == 0) continue;
    entry["reliability"].push_back({{"low", bound(k)},
                                    {"high", bound(k + 1)},
                                    {"count", bin.count},
                                    {"confidence", bin.confidence},
                                    {"accuracy", bin.accuracy}});
  }
}

void print_reliability(const BeforeAfter& both, double temperature) {
  const Reliability& r = both.after;
  if (r.items == 0) return;
  Table table;
  table.head = {"test items by confidence", "items", "confidence", "right"};
  for (size_t k = 0; k < r.bins.size(); ++k) {
    const ReliabilityBin& bin = r.bins[k];
    if (bin.count == 0) continue;
    table.rows.push_back({fmt::format("{:.0f} to {:.0f}", bound(k), bound(k + 1)),
                          std::to_string(bin.count), fmt::format("{:.1f}", bin.confidence),
                          fmt::format("{:.1f}", bin.accuracy)});
  }
  table.rows.push_back({"all", std::to_string(r.items), fmt::format("{:.1f}", r.confidence),
                        fmt::format("{:.1f}", r.accuracy)});
  fmt::print("\n");
  print_table(table);
  print_wrapped("",
                fmt::format("expected calibration error (ECE) {:.2f}, without the temperature of "
                            "{:.3g} {:.2f}",
                            r.ece, temperature, both.before.ece));
}

}  // namespace grm::cli
