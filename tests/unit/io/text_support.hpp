#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"

namespace attn::testing {

/// An empty folder that is the current one as long as this lives, so that messages name files as users type them.
class TextFolder : public ::testing::Test {
 protected:
  TextFolder() : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "attn-io-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::current_path(folder_);
  }
  ~TextFolder() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  static void write_file(const std::string& name, std::string_view content) {
    std::FILE* file = std::fopen(name.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(std::fwrite(content.data(), 1, content.size(), file), content.size());
    std::fclose(file);
  }

  std::unique_ptr<ArrayFile> open(const std::string& name, std::string_view content, const ReadOptions& options = {}) {
    write_file(name, content);
    return open_array_file(name, options, run);
  }

  /// The fault of reading a file: "exit code: message"; "" when there is none.
  std::string fault(const std::string& name, std::string_view content, const ReadOptions& options = {}) {
    try {
      open(name, content, options);
    } catch (const Error& error) {
      return std::to_string(static_cast<int>(error.kind())) + ": " + error.message();
    }
    return "";
  }

  RunContext run;

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

/// The numbers of a member as doubles.
inline std::vector<double> numbers_of(ArrayFile& file, std::size_t member = 0) {
  const Array array = file.read(member, MemoryBudget());
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  convert_elements(array.dtype, array.bytes.data(), array.size(), values.data());
  return values;
}

/// Index of the member of that name.
inline std::size_t member_at(const ArrayFile& file, std::string_view name) {
  const Member* member = file.find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? 0 : static_cast<std::size_t>(member - file.members().data());
}

/// Keeps what is written.
class TextSink : public ByteSink {
 public:
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
  std::string text;
};

/// What a format makes of an array, given in blocks of `block` rows.
template <typename Real>
std::string written(std::string_view format, ArrayHeader header, const std::vector<Real>& values, Index block = 3,
                    const WriteOptions& options = {}) {
  header.dtype = kDTypeOf<Real>;
  TextSink sink;
  const auto writer = make_array_writer(format, header, options, sink);
  const Index columns = header.shape.back();
  const Index rows = columns == 0 ? 0 : static_cast<Index>(values.size()) / columns;
  for (Index first = 0; first < rows; first += block) {
    const RowBlock part{first, std::min(block, rows - first), columns, header.dtype, values.data() + first * columns, columns};
    std::string encoded;
    writer->encode(part, encoded);
    writer->append(part, encoded);
  }
  writer->finish();
  return sink.text;
}

}  // namespace attn::testing
