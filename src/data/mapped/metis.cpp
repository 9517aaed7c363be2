// METIS, of Debian's package. This file alone knows it.
#include <torch/types.h>

#include <algorithm>
#include <numeric>

#include "data/mapped/partition.h"
#include "grm/core/error.h"

#ifdef GRM_WITH_METIS
#include <metis.h>
#endif

namespace grm::mapped {

#ifdef GRM_WITH_METIS
namespace {

// Neighbours in both directions, without self-pairs, as METIS wants them.
struct MetisLists {
  std::vector<idx_t> offsets, neighbours;
};

MetisLists metis_lists(const Csr& in, bool symmetric) {
  const auto n = static_cast<size_t>(in.rows);
  std::vector<int64_t> offset(n + 1, 0);
  const auto each_pair = [&](const auto& f) {
    for (int64_t i = 0; i < in.rows; ++i) {
      for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
        const int64_t j = in.index()[e];
        if (i == j) continue;
        f(i, j);
        if (!symmetric) f(j, i);
      }
    }
  };
  each_pair([&](int64_t i, int64_t) { ++offset[static_cast<size_t>(i) + 1]; });
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  if (offset[n] > INT32_MAX) {
    fail(ErrorKind::config, "{} pairs of nodes are more than METIS can take; use --by hash",
         offset[n]);
  }
  MetisLists lists;
  lists.neighbours.resize(static_cast<size_t>(offset[n]));
  std::vector<int64_t> next(offset.begin(), offset.end() - 1);
  each_pair([&](int64_t i, int64_t j) {
    lists.neighbours[static_cast<size_t>(next[static_cast<size_t>(i)]++)] = static_cast<idx_t>(j);
  });
  // A pair that is stored in both directions counts once.
  lists.offsets.push_back(0);
  auto kept = lists.neighbours.begin();
  for (size_t i = 0; i < n; ++i) {
    const auto begin = lists.neighbours.begin() + offset[i];
    const auto end = lists.neighbours.begin() + offset[i + 1];
    if (!symmetric) std::sort(begin, end);
    kept = std::unique_copy(begin, end, kept);
    lists.offsets.push_back(static_cast<idx_t>(kept - lists.neighbours.begin()));
  }
  return lists;
}

}  // namespace

bool has_metis() {
  return true;
}

std::vector<int32_t> parts_by_metis(const Csr& in, bool symmetric, int64_t parts) {
  std::vector<idx_t> part(static_cast<size_t>(in.rows), 0);
  // METIS leaves parts of graphs that are this small empty, or fails.
  constexpr int64_t kFewest = 4;
  if (parts == 1 || in.rows < kFewest * parts) {
    for (size_t i = 0; i < part.size(); ++i) part[i] = static_cast<idx_t>(i) % parts;
    return {part.begin(), part.end()};
  }
  MetisLists lists = metis_lists(in, symmetric);
  idx_t nodes = static_cast<idx_t>(in.rows), wanted = static_cast<idx_t>(parts), weights = 1,
        cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  const int code =
      METIS_PartGraphKway(&nodes, &weights, lists.offsets.data(), lists.neighbours.data(), nullptr,
                          nullptr, nullptr, &wanted, nullptr, nullptr, options, &cut, part.data());
  if (code == METIS_ERROR_MEMORY) {
    fail(ErrorKind::memory,
         "METIS lacks memory for {} nodes and {} pairs; --by hash needs none for the edges",
         in.rows, lists.neighbours.size());
  }
  if (code != METIS_OK) {
    fail(ErrorKind::config, "METIS could not cut the graph (its code {}); use --by hash", code);
  }
  return {part.begin(), part.end()};
}
#else
bool has_metis() {
  return false;
}

std::vector<int32_t> parts_by_metis(const Csr& /*in*/, bool /*symmetric*/, int64_t /*parts*/) {
  fail(ErrorKind::config,
       "--by metis: this build has no METIS (Debian: libmetis-dev); build it again with it, or use "
       "--by hash");
}
#endif

}  // namespace grm::mapped
