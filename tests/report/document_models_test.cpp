// Curves, confusion and components against values by hand and by scikit-learn.
#include <gtest/gtest.h>

#include "core/json.h"
#include "report/data_parts.h"
#include "report/document.h"

namespace grm::report::models_tests {
namespace {

using Json = nlohmann::ordered_json;

// logit 1 - logit 0 is the logit of p.
ReportParts two_classes() {
  const std::vector<double> p = {0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.4};
  const std::vector<int64_t> y = {0, 0, 1, 1, 0, 1, 1};
  torch::Tensor logits = torch::zeros({7, 2});
  for (int64_t k = 0; k < 7; ++k) {
    const double share = p[static_cast<size_t>(k)];
    logits[k][1] = std::log(share / (1 - share));
  }
  ReportParts report;
  report.models.push_back(
      {"d", "grm", "", 7, 1.0, {"no", "yes"}, {{"A", logits, torch::tensor(y)}}});
  return report;
}

// sklearn.metrics: confusion_matrix(y, p > 0.5) = [[2, 1], [2, 2]]; roc_auc_score = 0.7083333;
// average_precision_score = 0.8166667; at the model's own threshold 2 of 4 hits, 1 of 3 alarms.
TEST(DocumentModels, AgreeWithScikitLearn) {
  const Json domain = document::models_json(two_classes(), "d")[0]["domains"][0];
  EXPECT_EQ(domain["confusion"], (Json{{2, 1}, {2, 2}}));
  ASSERT_EQ(domain["curves"].size(), 1u);
  const Json& curve = domain["curves"][0];
  EXPECT_NEAR(curve["auc"], 70.8333, 1e-3);
  EXPECT_NEAR(curve["ap"], 81.6667, 1e-3);
  EXPECT_NEAR(curve["at"]["tpr"], 0.5, 1e-9);
  EXPECT_NEAR(curve["at"]["fpr"], 1.0 / 3, 1e-3);
  EXPECT_NEAR(curve["at"]["precision"], 2.0 / 3, 1e-3);
  // Confidences 0.9 .6 .65 .8 .65 .9 .6 in bins of 1/15: 0.6 is in (8/15, 9/15], 0.65 in the next one.
  EXPECT_EQ(domain["reliability"][0]["items"], 7);
  int64_t items = 0;
  for (const Json& bin : domain["reliability"][0]["bins"]) items += bin["count"].get<int64_t>();
  EXPECT_EQ(items, 7);
  EXPECT_TRUE(document::models_json(two_classes(), "other").is_null());
}

// Points on a line of direction (3, 4) with a little across it: the first component is along it.
TEST(Embedding, FirstComponentIsTheDirectionOfMostVariance) {
  const torch::Tensor along = torch::tensor({-2.0, -1.0, 0.0, 1.0, 2.0});
  const torch::Tensor across = torch::tensor({0.1, -0.2, 0.2, -0.2, 0.1});
  const torch::Tensor x = torch::stack({3 * along - 4 * across, 4 * along + 3 * across}, 1);
  const EmbeddingPart::Space space = principal_components(x);
  ASSERT_TRUE(space.places.defined());
  for (int64_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(std::abs(space.places[k][0].item<double>()), std::abs(5 * along[k].item<double>()),
                1e-6);
  }
  // Variances 25 * 10 and 25 * 0.14.
  EXPECT_NEAR(space.explained[0], 10 / 10.14, 1e-6);
  EXPECT_NEAR(space.explained[1], 0.14 / 10.14, 1e-6);
  EXPECT_FALSE(principal_components(torch::ones({5, 3})).places.defined());
}

}  // namespace
}  // namespace grm::report::models_tests
