#pragma once

#include <vector>

namespace grm {

/// One step of group DRO's weights: log q_g += eta l_g, then q is brought back to sum 1. The
/// weights that the losses of the same step are multiplied with are those after this update.
void update_group_weights(std::vector<double>& log_q, const std::vector<double>& losses,
                          double eta);

}  // namespace grm
