#pragma once

#ifdef GRM_WITH_GLOO

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "dist/group.h"

// The store in which the members of a group meet.
namespace grm::dist {

using Store = c10::intrusive_ptr<c10d::Store>;

struct OpenStore {
  Store store;
  int port = 0;
};
/// Rank 0 opens it, unless the launcher keeps one. Error(device) where it cannot be had.
OpenStore open_store(const Launch& launch, const JoinOptions& options);
/// One more connection to it.
Store connect_to_store(const Launch& launch, int port, const JoinOptions& options);
/// All members tell their names; all names, by rank. Error(device) if some do not come.
std::vector<std::string> come_together(const Launch& launch, const JoinOptions& options,
                                       const Store& store);

/// How long members are waited for.
std::chrono::milliseconds store_timeout(const JoinOptions& options);
/// "rank 1 (process 77 on host)" of this process.
std::string own_name(int rank);
/// The own address as a host, that of rank 0, sees it.
std::string address_towards(const std::string& host);
/// The first line of what c10d says, without its place in the source and its stack.
std::string plain(const std::exception& error);

}  // namespace grm::dist

#endif
