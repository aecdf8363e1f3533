#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/array_file.hpp"

namespace attn {

/// A folder of a test's own that goes with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "attn-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

  /// Names in the folder, hidden ones too.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view content) {
  // A new file each time: some file systems flush a file that is truncated and written again.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file of tests/unit/io/data.
inline std::string data_path(std::string_view name) {
  return std::string(ATTN_SOURCE_DIR "/tests/unit/io/data/") + std::string(name);
}

/// Calls and expects an error of this kind whose message has the text.
template <typename Call>
void expect_error(ErrorKind kind, std::string_view text, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.message();
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message() << "\nexpected: " << text;
    EXPECT_LE(error.message().size(), 400u) << error.message();
    EXPECT_EQ(error.message().find_first_of("\n\x1b"), std::string::npos);
  }
}

/// Bytes taken into memory.
class MemorySink : public ByteSink {
 public:
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { content.append(static_cast<const char*>(bytes), count); }
  std::string content;
};

/// Opens a file of the folder, reads every array whole and by rows (two at a time), and expects both to agree. Used where
/// any outcome is right as long as it is an orderly one; returns false when the file was refused.
inline bool read_everything(const std::string& path, const MemoryBudget& budget = MemoryBudget(64 << 20)) {
  try {
    RunContext run;
    run.budget = budget;
    const auto file = open_array_file(path, {}, run);
    for (std::size_t i = 0; i < file->members().size(); ++i) {
      const Member& member = file->members()[i];
      if (member.kind != MemberKind::array) continue;
      const Array array = convert_array(file->read(i, budget), DType::f64, budget, "x");
      const Index width = member.shape.empty() ? 1 : member.shape.back();
      const Index rows = width == 0 ? 0 : array.size() / width;
      std::vector<double> block(static_cast<std::size_t>(2 * width));
      for (Index row = 0; row < rows; row += 2) {
        const Index count = std::min<Index>(2, rows - row);
        file->read_rows(i, row, count, block.data());
        const bool same =
            std::memcmp(block.data(), array.data<double>() + row * width, static_cast<std::size_t>(count * width) * 8) == 0;
        EXPECT_TRUE(same) << path << ": row " << row << " of " << member.name;
      }
    }
    return true;
  } catch (const Error& error) {
    const ErrorKind kind = error.kind();
    EXPECT_TRUE(kind == ErrorKind::malformed || kind == ErrorKind::mismatch || kind == ErrorKind::memory) << error.message();
    EXPECT_LE(error.message().size(), 300u) << error.message();
    EXPECT_EQ(printable(error.message(), 300), error.message()) << "one line that can be printed";
    return false;
  }
}

/// Every prefix of a good file must be refused; with any byte changed to 0x00, 0xff, or in its lowest or highest bit, the
/// outcome must be orderly. Returns how many changed files were still read.
inline int torture(const TemporaryFolder& folder, const std::string& name, const std::string& good) {
  const std::string path = folder / name;
  write_file(path, good);
  for (std::size_t length = good.size(); length-- > 0;) {
    std::filesystem::resize_file(path, length);
    EXPECT_FALSE(read_everything(path)) << "a prefix of " << length << " bytes was read";
  }
  write_file(path, good);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, char byte) { file.seekp(static_cast<std::streamoff>(at)).put(byte).flush(); };
  int read = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x00, 0xff, 0x01, 0x80}) {
      const auto byte = static_cast<unsigned char>(good[at]);
      put(at, static_cast<char>(change == 0x00 || change == 0xff ? change : byte ^ change));
      read += read_everything(path) ? 1 : 0;
    }
    put(at, good[at]);
  }
  return read;
}

}  // namespace attn
