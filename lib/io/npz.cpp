#include "io/npz.hpp"

#include <cstring>
#include <optional>
#include <unordered_set>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/metadata_text.hpp"
#include "io/npy_data.hpp"
#include "io/npz_directory.hpp"
#include "io/npz_entry.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// torch.save writes a zip as well, whose arrays only Python can find their way to.
void refuse_torch(const std::vector<ZipEntry>& entries, const std::string& file) {
  for (const ZipEntry& entry : entries)
    if (entry.name.ends_with("/data.pkl"))
      fail_with_hint(ErrorKind::malformed, "save the tensors with safetensors.torch.save_file or numpy.savez", file,
                     ": is a PyTorch file (pickle), which is not read");
}

class NpzFile : public ArrayFile {
 public:
  NpzFile(std::unique_ptr<FileReader> file, const MemoryBudget& budget)
      : file_(std::move(file)), budget_(budget), entries_(read_zip_directory(*file_)) {
    name_ = file_->path();
    format_ = "npz";
    refuse_torch(entries_, file_->name());
    // The names of folders have nothing behind them.
    std::erase_if(entries_, [](const ZipEntry& entry) { return entry.name.ends_with('/') && entry.size == 0; });
    budget_.require(entries_.size() * sizeof(Member), file_->name());
    for (const ZipEntry& entry : entries_) add_member(entry);
    check_names();
  }

  Array read(std::size_t member, const MemoryBudget& budget) override {
    require_array(members_.at(member));
    return read_npy_array(source(member), headers_[member], members_[member].where, budget);
  }

  void read_rows(std::size_t member, Index first, Index count, double* rows) override {
    require_array(members_.at(member));
    const Range range{first, first + count};
    if (!headers_[member].fortran_order)
      return read_npy_rows(source(member), headers_[member], members_[member].where, range, rows);
    if (!held_ || held_member_ != member) {
      held_.reset();
      held_ = read(member, budget_);
      held_member_ = member;
    }
    copy_rows(*held_, range, rows);
  }

 private:
  void add_member(const ZipEntry& entry) {
    std::string name = entry.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    const std::string where = concat(file_->name(), ":", printable(name, 60));
    ZipEntrySource entry_source(*file_, entry, where);
    headers_.push_back(read_npy_header(entry_source, where));
    Member member = describe_npy(entry_source, headers_.back(), where, budget_);
    if (member.kind == MemberKind::text && is_metadata_name(name)) member = metadata_member(name, member.text, where);
    member.name = std::move(name);
    members_.push_back(std::move(member));
  }

  /// "q" and "q.npy" would be one name.
  void check_names() const {
    std::unordered_set<std::string_view> names;
    for (const Member& member : members_)
      if (!names.insert(member.name).second) fail(ErrorKind::malformed, member.where, ": the name appears twice in the archive");
  }

  /// The entry last read stays open: rows are asked for one block after the other.
  ZipEntrySource& source(std::size_t member) {
    if (!source_ || source_member_ != member) {
      source_.emplace(*file_, entries_[member], members_[member].where);
      source_member_ = member;
    }
    return *source_;
  }

  std::unique_ptr<FileReader> file_;
  MemoryBudget budget_;
  std::vector<ZipEntry> entries_;   // as many as members, in the same order
  std::vector<NpyHeader> headers_;  // likewise
  std::optional<ZipEntrySource> source_;
  std::size_t source_member_ = 0;
  std::optional<Array> held_;  // of a member in Fortran order, whose rows lie all over it
  std::size_t held_member_ = 0;
};

}  // namespace

bool recognises_npz(std::span<const std::byte> head, std::uint64_t /*file_size*/) {
  // A local header, or the end of an archive without entries.
  for (const std::string_view magic : {std::string_view("PK\x03\x04", 4), std::string_view("PK\x05\x06", 4)})
    if (head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0) return true;
  return false;
}

std::unique_ptr<ArrayFile> open_npz(std::unique_ptr<FileReader> file, const ReadOptions& /*options*/, const RunContext& run) {
  refuse_lfs_pointer(*file);
  file->report_to(run.progress);
  return std::make_unique<NpzFile>(std::move(file), run.budget);
}

}  // namespace v1
}  // namespace attn
