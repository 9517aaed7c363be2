#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grm/train/predict.h"
#include "train/evaluate.h"

// Predictions of data that `--data` names, piece by piece, and the logits of what has a label.
namespace grm {

/// Predicts domain by domain, sets of graphs some thousand at a time; `handle` gets the items of
/// each piece, `progress` items done and in all.
using HandlePiece =
    std::function<void(const Domain&, const torch::Tensor& items, const Prediction&)>;
void predict_pieces(Model& model, const std::vector<Asked>& data, const HandlePiece& handle,
                    const std::function<void(int64_t, int64_t)>& progress = {});

/// The logits of labelled items that count, by group of domains.
class LabelledLogits {
 public:
  void add(const Domain& domain, const torch::Tensor& items, const torch::Tensor& logits);
  /// In order of first appearance.
  std::vector<GroupLogits> groups() const;
  int64_t labelled() const { return labelled_; }
  int64_t unlabelled() const { return unlabelled_; }

 private:
  struct Group {
    std::string name;
    std::vector<torch::Tensor> logits, y;
  };
  std::vector<Group> groups_;
  int64_t labelled_ = 0, unlabelled_ = 0;
};

/// The same of all that `--data` names, if there is memory for it.
LabelledLogits labelled_logits(Model& model, const std::string& data, const DataContext& context);

}  // namespace grm
