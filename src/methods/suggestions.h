#pragma once

#include <string>
#include <utility>
#include <vector>

namespace grm {

/// Keys and values that the reference protocol (EERM's run scripts) or our measurements on
/// validation give for one dataset, in the order in which they are set: after the preset and before
/// the user's own. `domains`: the method takes its training domains from a DomainProvider.
std::vector<std::pair<std::string, std::string>> suggested_values(const std::string& dataset,
                                                                  const std::string& method,
                                                                  const std::string& preset,
                                                                  bool domains);

}  // namespace grm
