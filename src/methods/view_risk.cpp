// Mean and variance of the losses of EERM's views, and what each of them weighs in the objective.
#include <torch/types.h>

#include "methods/eerm.h"

namespace grm {

ViewRisk view_risk(const std::vector<double>& losses, double beta) {
  const auto count = static_cast<double>(losses.size());
  ViewRisk risk;
  for (const double loss : losses) risk.mean += loss / count;
  for (const double loss : losses) {
    const double off = loss - risk.mean;
    if (losses.size() > 1) risk.variance += off * off / (count - 1);
    risk.weights.push_back((losses.size() > 1 ? 2 * off / (count - 1) : 0.0) + beta / count);
  }
  return risk;
}

ViewRiskThere view_risk(const std::vector<torch::Tensor>& losses, const torch::Tensor& beta) {
  const auto count = static_cast<double>(losses.size());
  ViewRiskThere risk;
  std::vector<torch::Tensor> off;
  for (const torch::Tensor& loss : losses) {
    off.push_back(loss.detach().to(torch::kFloat64));
    const torch::Tensor part = off.back() / count;
    risk.mean = risk.mean.defined() ? risk.mean + part : part;
  }
  risk.variance = torch::zeros_like(risk.mean);
  for (torch::Tensor& loss : off) {
    loss = loss - risk.mean;
    torch::Tensor weight = beta / count;
    if (losses.size() > 1) {
      risk.variance = risk.variance + loss * loss / (count - 1);
      weight = loss * 2 / (count - 1) + weight;
    }
    risk.weights.push_back(weight);
  }
  return risk;
}

}  // namespace grm
