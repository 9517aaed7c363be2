#include <torch/types.h>

#include "data/helpers.h"
#include "data/spmotif_samples.h"

namespace grm {
namespace {

using namespace test;

// What the variants with noise edges have in common.
int64_t check_noisy(const Sample& sample, const Pairs& motif, Base& base) {
  const int64_t n = sample.nodes - kMotif;
  EXPECT_EQ(inside(sample.edges, n, sample.nodes), motif) << "no noise edge inside the motif";
  EXPECT_EQ(inside(sample.truth, n, sample.nodes), motif);
  EXPECT_EQ(sample.truth.size(), motif.size());
  base = base_of(n, inside(sample.edges, 0, n), true);
  EXPECT_GE(base.kind, 0);
  const Pairs whole = base.kind == 1 ? ladder(n / 2) : base.kind == 2 ? wheel(n) : tree(n, 2);
  const auto plain = static_cast<int64_t>(whole.size() + motif.size() + 1);
  const int64_t extra = static_cast<int64_t>(sample.edges.size()) - plain;
  EXPECT_GE(extra, 0);
  EXPECT_LE(extra, static_cast<int64_t>(0.05 * static_cast<double>(plain)));
  return extra;
}

TEST(SpMotifCiga, HasItsOwnCraneNoiseEdgesAndTreeHeights) {
  const Task task = load_dataset("spmotif", "", {{"variant", "ciga-struc"}});
  EXPECT_EQ(task.training[0].graph.items(), 9000);
  EXPECT_EQ(task.validation[0].graph.items(), 3000);
  EXPECT_EQ(task.test[0].graph.items(), 3000);
  EXPECT_THAT(task.notes, ::testing::Contains(::testing::HasSubstr("ciga-struc")));
  int64_t noise = 0;
  std::vector<int64_t> paired(3, 0);
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Sample& sample : samples_of(task.domains(role)[0])) {
      Base base;
      noise += check_noisy(sample, sample.label == 2 ? kCigaCrane : kShapes[sample.label], base);
      if (role == Role::train) paired[sample.label] += base.kind == sample.label;
      if (base.kind != 0) continue;
      if (role == Role::test) {
        EXPECT_TRUE(base.size >= 3 && base.size <= 5);
      } else if (role == Role::validation || sample.label == 0) {
        EXPECT_EQ(base.size, 3);
      } else {
        EXPECT_LE(base.size, 2);
      }
    }
  }
  EXPECT_GT(noise, 9000);
  for (const int64_t count : paired) expect_share(count, 3000, 0.9);
}

TEST(SpMotifCiga, MixedFeaturesAreTheLabelWithTheBiasInTraining) {
  const Task task =
      load_dataset("spmotif", "", {{"variant", "ciga-mixed"}, {"train_per_class", "1000"}});
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    const Domain& domain = task.domains(role)[0];
    const float* x = domain.graph.x.dense.data_ptr<float>();
    const int64_t* part = domain.graph.parts.data_ptr<int64_t>();
    const int64_t* y = domain.labels.y.data_ptr<int64_t>();
    int64_t right = 0;
    for (int64_t g = 0; g < domain.graph.items(); ++g) {
      for (int64_t k = 4 * part[g]; k < 4 * part[g + 1]; ++k) EXPECT_EQ(x[k], x[4 * part[g]]);
      EXPECT_TRUE(x[4 * part[g]] == 0 || x[4 * part[g]] == 1 || x[4 * part[g]] == 2);
      right += x[4 * part[g]] == static_cast<float>(y[g]);
    }
    expect_share(right, domain.graph.items(), role == Role::train ? 0.9 : 1.0 / 3);
  }
}

TEST(SpMotifTwoPiece, MotifsFollowTheLabelUpToTheNoiseAndSizesDoNotShift) {
  const Task task = load_dataset("spmotif", "", {{"variant", "two-piece"}, {"label_noise", "0.3"}});
  EXPECT_EQ(task.training[0].graph.items(), 9000);
  const double bias[] = {0.9, 0.7, 0.33};
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    const Domain& domain = task.domains(role)[0];
    EXPECT_TRUE(domain.graph.x.dense.eq(1).all().item<bool>());
    int64_t agree = 0, paired = 0;
    for (const Sample& sample : samples_of(domain)) {
      const int64_t n = sample.nodes - kMotif;
      const Pairs motif = inside(sample.edges, n, sample.nodes);
      EXPECT_TRUE(motif == kShapes[0] || motif == kShapes[1] || motif == kCigaCrane);
      agree += motif == (sample.label == 2 ? kCigaCrane : kShapes[sample.label]);
      const Base base = base_of(n, inside(sample.edges, 0, n), true);
      paired += base.kind == sample.label;
      EXPECT_TRUE(base.kind == 0   ? base.size == 3
                  : base.kind == 1 ? base.size >= 8 && base.size <= 11
                                   : base.size >= 15 && base.size <= 19);
    }
    expect_share(agree, domain.graph.items(), 1 - 0.3 * 2 / 3);
    expect_share(paired, domain.graph.items(), bias[static_cast<int>(role)]);
  }
}

}  // namespace
}  // namespace grm
