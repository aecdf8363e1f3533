#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "attn/io/output_file.hpp"
#include "unit/io/file_support.hpp"

namespace attn {

class Outputs : public ::testing::Test {
 protected:
  void SetUp() override { ::umask(022); }

  mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  /// Whether `call` throws this kind with the text in its message.
  template <typename Call>
  static bool fails(ErrorKind kind, std::string_view text, Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind() == kind && error.message().find(text) != std::string::npos;
    }
    return false;
  }

  TemporaryFolder folder_;
};

}  // namespace attn
