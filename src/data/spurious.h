#pragma once

#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/core/rng.h"
#include "grm/data/task.h"

namespace grm {

inline constexpr int64_t kSpuriousDomains = 10;  // also the number of label outputs

enum class GeneratorFamily { gcn, sgc, gat };
GRM_WORDS(GeneratorFamily, "gcn", "sgc", "gat")

/// A random two-hop network that is never trained. With P = D^-1/2 (A + I) D^-1/2:
///   gcn  P relu(P X W1) W2                           weights W1 [in, 10], W2 [10, out]
///   sgc  P^2 X W + b                                 weights W [in, out], b [out]
///   gat  two heads of 10, concatenated, ELU; then    weights W1 [in, 2*10], its source and target
///        two heads of `out`, averaged                attention [2, 10]; W2 [20, 2*out], [2, out]
struct RandomGenerator {
  GeneratorFamily family;
  std::vector<torch::Tensor> weights;  // double
};

/// Draws all weights from `draws`: Glorot for gcn and gat (biases zero), +-1/sqrt(in) for sgc.
RandomGenerator draw_generator(GeneratorFamily family, int64_t inputs, int64_t outputs,
                               Stream draws);

/// Output [n, out] (double) for 0/1 features given as a pattern.
torch::Tensor run_generator(const RandomGenerator& generator, const Adjacency& edges,
                            const Adjacency& x);

/// One draw of the artificial spurious features, shared by ten domains: labels y come from a random
/// generator on the true features; the spurious columns of domain e are base + 1 offset[e]^T, where
/// base is a random generator's answer to the one-hot labels.
struct SpuriousDraw {
  torch::Tensor y;       // [n] int64; the first maximum wins
  torch::Tensor base;    // [n, width] double
  torch::Tensor offset;  // [10, width] double
};
SpuriousDraw draw_spurious(const Adjacency& edges, const Adjacency& x, GeneratorFamily family,
                           int64_t width, uint64_t seed);

/// What cora, cora-mix, photo and sbm have in common.
struct SpuriousOptions {
  GeneratorFamily generator = GeneratorFamily::gcn;
  int64_t dataset_seed = 0;
  void declare(OptionList& list);
};

/// Ten domains of one graph with features [ x | spurious ]: domain 0 trains, 1 validates, 2..9 are
/// the tests T1..T8. Labels and their histogram go into `task` and its notes.
void add_spurious_domains(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x,
                          const SpuriousDraw& draw);

/// The same domains with features (1 - ratio) x + ratio * spurious, for spurious columns as many as
/// those of x. The dense part is shared by all domains; what tells them apart is the shift.
void add_mixed_domains(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x,
                       const SpuriousDraw& draw, double ratio);

}  // namespace grm
