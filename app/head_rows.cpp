#include "app/head_rows.hpp"

#include <algorithm>
#include <functional>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

constexpr Index kBlockElements = 1 << 17;  // 1 MiB of float64
constexpr std::size_t kMostReaders = 64;   // open files for one picture

using RowsFunction = std::function<void(Index first, Index count, double* rows)>;

/// Rows of an array, asked for in rising order of rows for each chosen head.
class HeadReaders {
 public:
  HeadReaders(const OpenedInput& input, std::size_t member, const std::vector<Index>& heads, bool one_pass,
              const ReadOptions& options, const Console& console) {
    if (one_pass) {
      readers_.assign(heads.size(), from_file(input.file, member));
    } else if (input.reopens() && heads.size() <= kMostReaders && !input.member(member).is_text) {
      for (std::size_t i = 0; i < heads.size(); ++i)
        readers_.push_back(from_file(open_array_file(input.path, options, console.run()), member));
    } else {
      readers_.assign(heads.size(), from_memory(input.file->read(member, console.run().budget)));
    }
  }

  const RowsFunction& operator[](std::size_t head) const { return readers_[head]; }

 private:
  static RowsFunction from_file(std::shared_ptr<ArrayFile> file, std::size_t member) {
    return [file, member](Index first, Index count, double* rows) { file->read_rows(member, first, count, rows); };
  }
  static RowsFunction from_memory(Array array) {
    auto held = std::make_shared<Array>(std::move(array));
    return [held](Index first, Index count, double* rows) {
      const Index keys = held->shape.empty() ? 1 : held->shape.back();
      const std::byte* source = held->bytes.data() + static_cast<std::size_t>(first * keys) * item_size(held->dtype);
      convert_elements(held->dtype, source, count * keys, rows);
    };
  }

  std::vector<RowsFunction> readers_;
};

void combine(Reduce reduce, const double* head, double* sum, Index count) {
  for (Index i = 0; i < count; ++i) {
    switch (reduce) {
      case Reduce::mean:
        sum[i] += head[i];
        break;
      // A NaN in any head stays visible: std::max and std::min would drop it or not, depending on the order.
      case Reduce::max:
        sum[i] = head[i] > sum[i] || head[i] != head[i] ? head[i] : sum[i];
        break;
      case Reduce::min:
        sum[i] = head[i] < sum[i] || head[i] != head[i] ? head[i] : sum[i];
        break;
      case Reduce::none:
        break;
    }
  }
}

/// One array on its way to the sinks.
class HeadDelivery {
 public:
  HeadDelivery(const MatrixStack& stack, std::vector<Index> heads, Reduce reduce, const RunContext& run,
               const std::vector<RowSink*>& sinks)
      : stack_(stack), heads_(std::move(heads)), reduce_(heads_.empty() ? Reduce::none : reduce), run_(run), sinks_(sinks) {
    step_ = std::clamp<Index>(kBlockElements / std::max<Index>(stack.keys, 1), 1, std::max<Index>(stack.queries, 1));
    bytes_ = run.budget.allocate(2 * static_cast<std::size_t>(step_ * stack.keys) * sizeof(double), "a block of rows");
  }

  /// Whether the rows come in the order of the file, each once.
  bool one_pass() const {
    return (reduce_ == Reduce::none || heads_.size() == 1) && std::is_sorted(heads_.begin(), heads_.end());
  }

  void run(const HeadReaders& readers, Index first_row) {
    const std::size_t groups = reduce_ == Reduce::none ? heads_.size() : 1;
    total_ = stack_.batch * static_cast<Index>(groups) * stack_.queries;
    for (Index batch = 0; batch < stack_.batch; ++batch) {
      for (std::size_t group = 0; group < groups; ++group) {
        for (Index query = 0; query < stack_.queries; query += step_) {
          const Index count = std::min(step_, stack_.queries - query);
          read(readers, batch, group, query, count);
          give(first_row, count);
        }
      }
    }
  }

 private:
  double* rows() { return reinterpret_cast<double*>(bytes_.data()); }

  void read(const HeadReaders& readers, Index batch, std::size_t group, Index query, Index count) {
    const auto row_of = [&](std::size_t head) { return (batch * stack_.heads + heads_[head]) * stack_.queries + query; };
    readers[group](row_of(group), count, rows());
    if (reduce_ == Reduce::none) return;
    const Index elements = count * stack_.keys;
    double* more = rows() + step_ * stack_.keys;
    for (std::size_t head = 1; head < heads_.size(); ++head) {
      readers[head](row_of(head), count, more);
      combine(reduce_, more, rows(), elements);
    }
    if (reduce_ != Reduce::mean) return;
    for (Index i = 0; i < elements; ++i) rows()[i] /= static_cast<double>(heads_.size());
  }

  void give(Index first_row, Index count) {
    const RowBlock block{first_row + given_, count, stack_.keys, DType::f64, rows(), stack_.keys};
    for (RowSink* sink : sinks_) {
      encoded_.clear();
      sink->encode(block, encoded_);
      sink->append(block, encoded_);
    }
    given_ += count;
    if (run_.progress) run_.progress->update("reading", given_, total_);
  }

  const MatrixStack stack_;
  const std::vector<Index> heads_;
  const Reduce reduce_;
  const RunContext& run_;
  const std::vector<RowSink*>& sinks_;
  Index step_ = 1;
  Buffer bytes_;  // a block of rows, and one of the next head to combine with it
  Index given_ = 0;
  Index total_ = 0;
  std::string encoded_;
};

std::vector<Index> all_heads(Index count) {
  std::vector<Index> heads;
  for (Index head = 0; head < count; ++head) heads.push_back(head);
  return heads;
}

}  // namespace

MatrixStack matrix_stack(const Member& member) {
  const Shape& shape = member.shape;
  const std::size_t rank = shape.size();
  if (rank > 4)
    fail(ErrorKind::mismatch, printable(member.where), " has rank ", rank, " and shape ", shape_text(shape),
         ", expected rank 2 to 4: [n,m], [H,n,m] or [B,H,n,m]");
  MatrixStack stack;
  if (rank >= 1) stack.keys = shape[rank - 1];
  if (rank >= 2) stack.queries = shape[rank - 2];
  if (rank >= 3) stack.heads = shape[rank - 3];
  if (rank >= 4) stack.batch = shape[0];
  stack.has_heads = rank >= 3;
  stack.has_batch = rank >= 4;
  return stack;
}

HeadWish head_wish(const Words& words) {
  HeadWish wish;
  if (words.has("--head")) {
    const auto heads = index_list_value("--head", words.value("--head"), &wish.single);
    wish.heads.assign(heads.begin(), heads.end());
  }
  const std::string reduce = words.value("--reduce", "none");
  if (reduce == "mean") wish.reduce = Reduce::mean;
  if (reduce == "max") wish.reduce = Reduce::max;
  if (reduce == "min") wish.reduce = Reduce::min;
  return wish;
}

std::vector<Index> chosen_heads(const MatrixStack& stack, const HeadWish& wish, const std::string& where) {
  for (const Index head : wish.heads)
    if (head >= stack.heads)
      fail(ErrorKind::mismatch, "--head ", head, ": ", printable(where), " has ", stack.heads,
           stack.heads == 1 ? " head" : " heads", ", numbered from 0");
  return wish.heads.empty() ? all_heads(stack.heads) : wish.heads;
}

Shape chosen_shape(const MatrixStack& stack, const HeadWish& wish) {
  Shape shape;
  if (stack.has_batch) shape.push_back(stack.batch);
  const bool dropped = wish.reduce != Reduce::none || (wish.single && !stack.has_batch);
  const Index heads = wish.heads.empty() ? stack.heads : static_cast<Index>(wish.heads.size());
  if (stack.has_heads && !dropped) shape.push_back(heads);
  shape.push_back(stack.queries);
  shape.push_back(stack.keys);
  return shape;
}

void deliver_heads(const OpenedInput& input, std::size_t member, const HeadWish& wish, const ReadOptions& options,
                   const Console& console, Index first_row, const std::vector<RowSink*>& sinks) {
  const MatrixStack stack = matrix_stack(input.member(member));
  const std::vector<Index> heads = chosen_heads(stack, wish, input.member(member).where);
  HeadDelivery delivery(stack, heads, wish.reduce, console.run(), sinks);
  delivery.run(HeadReaders(input, member, heads, delivery.one_pass(), options, console), first_row);
}

}  // namespace attn::app
