#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attn/io/array_file.hpp"
#include "io/file_reader.hpp"

namespace attn {
inline namespace v1 {

/// What a text file holds: its members and, in the same order, the packed elements of those that are arrays.
struct TextContent {
  std::vector<Member> members;
  std::vector<Buffer> numbers;

  void add(Member member, Buffer elements = {}) {
    members.push_back(std::move(member));
    numbers.push_back(std::move(elements));
  }
};

/// Reads a whole text file from its start.
using TextParser = TextContent (*)(FileReader& file, const ReadOptions& options, const RunContext& run);

/// A text file, read whole when it is opened. A large array is given away by `read` without a copy; should it be asked
/// for again, the file is read again, which a stream cannot be.
class TextArrayFile : public ArrayFile {
 public:
  TextArrayFile(std::string_view format, std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run,
                TextParser parser);

  Array read(std::size_t member, const MemoryBudget& budget) override;
  void read_rows(std::size_t member, Index first, Index count, double* rows) override;

 private:
  Buffer& numbers_of(std::size_t member);

  std::unique_ptr<FileReader> file_;
  ReadOptions options_;
  RunContext run_;
  TextParser parser_;
  std::vector<Buffer> numbers_;
};

}  // namespace v1
}  // namespace attn
