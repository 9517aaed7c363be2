#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "grm/core/error.h"

namespace grm::test {

/// Runs `action`, which must throw grm::Error of this kind, and returns the message ("" otherwise).
template <class Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

/// Damaged input must end in an Error of any kind or in a value, never in another exception.
template <class Action>
bool throws_error(Action&& action) {
  try {
    action();
    return false;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return true;
  }
}

}  // namespace grm::test
