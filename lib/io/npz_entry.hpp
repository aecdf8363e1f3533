#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_reader.hpp"
#include "io/npy_header.hpp"
#include "io/npz_directory.hpp"

namespace attn {
inline namespace v1 {

/// The unpacked bytes of one archive entry. They are read forward; going back starts again. When the last byte has been
/// read the checksum is compared and, of deflated data, the end: a `malformed` error names `where`.
class ZipEntrySource : public NpySource {
 public:
  /// The file and the entry must outlive this.
  ZipEntrySource(FileReader& file, const ZipEntry& entry, std::string where);
  ~ZipEntrySource() override;

  std::uint64_t size() override { return entry_.size; }
  void read_at(std::uint64_t offset, void* target, std::size_t count) override;

 private:
  class Inflater;

  void restart();
  void read_next(std::byte* target, std::size_t count);
  void inflate_next(std::byte* target, std::size_t count);
  void check_end();

  FileReader& file_;
  const ZipEntry& entry_;
  std::string where_;
  std::uint64_t position_ = 0;
  std::uint32_t crc_ = 0;
  bool verified_ = false;  // once is enough
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace v1
}  // namespace attn
