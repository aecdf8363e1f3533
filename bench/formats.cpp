// Reads or writes one file several times and prints the best CPU seconds and the peak of memory in MiB: what formats.py
// sets beside Python's readers.
//   bench-formats read FILE RUNS      open_array_file and read of every array, all of which are kept
//   bench-formats rows FILE RUNS      the same, a block of rows after the other
//   bench-formats bytes FILE RUNS     the bytes alone, into fresh memory
//   bench-formats write FILE RUNS     2048 rows of 2048 float32, in the format of the name
//   bench-formats long FILE RUNS      64 rows of a million
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"

namespace {

using namespace attn;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double best_of(int runs, const std::function<void()>& work) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

void read_arrays(const std::string& path) {
  const RunContext run;
  const auto file = open_array_file(path, {}, run);
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < file->members().size(); ++i)
    if (file->members()[i].kind == MemberKind::array) arrays.push_back(file->read(i, run.budget));
}

void read_blocks(const std::string& path) {
  const RunContext run;
  const auto file = open_array_file(path, {}, run);
  constexpr Index kBlock = 16;
  for (std::size_t i = 0; i < file->members().size(); ++i) {
    const Member& member = file->members()[i];
    if (member.kind != MemberKind::array || member.shape.empty()) continue;
    const Index columns = member.shape.back();
    const Index rows = checked_size(member.shape, "the file") / columns;
    std::vector<double> block(static_cast<std::size_t>(kBlock * columns));
    for (Index row = 0; row < rows; row += kBlock) file->read_rows(i, row, std::min(kBlock, rows - row), block.data());
  }
}

void read_bytes(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  fstat(descriptor, &status);
  const MemoryBudget budget;
  const Buffer bytes = budget.allocate(static_cast<std::size_t>(status.st_size), "the file");
  std::size_t done = 0;
  for (ssize_t got; (got = read(descriptor, const_cast<std::byte*>(bytes.data()) + done, bytes.size() - done)) > 0;)
    done += static_cast<std::size_t>(got);
  close(descriptor);
  if (done != bytes.size()) fail(ErrorKind::malformed, path, ": short read");
}

/// How many rows are written, and the numbers of the block that all of them are made of.
struct Rows {
  Index rows, columns, at_once;
  std::vector<float> numbers;
};

void write_rows(const std::string& path, const Rows& source) {
  OutputFiles files(false);
  ArrayHeader header;
  header.name = "weights";
  header.dtype = DType::f32;
  header.shape = {source.rows, source.columns};
  header.with_labels = false;
  const auto sink = make_array_writer(data_format_of(path), header, {}, files.open(path));
  std::string encoded;
  const Index held = static_cast<Index>(source.numbers.size()) / source.columns;
  for (Index first = 0; first < source.rows; first += source.at_once) {
    const float* numbers = source.numbers.data() + first % held * source.columns;
    const RowBlock rows{first, source.at_once, source.columns, DType::f32, numbers, source.columns};
    encoded.clear();
    sink->encode(rows, encoded);
    sink->append(rows, encoded);
  }
  sink->finish();
  files.commit();
}

Rows weights_like(Index rows, Index columns, Index at_once, Index held) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1.0F / static_cast<float>(columns));
  std::vector<float> numbers(static_cast<std::size_t>(held * columns));
  for (float& number : numbers) number = uniform(random);
  return {rows, columns, at_once, std::move(numbers)};
}

/// Of this process so far, in MiB. What getrusage says began with the process that started this one.
double peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return 0;
}

double seconds_of(const std::string& what, const std::string& path, int runs) {
  if (what == "read") return best_of(runs, [&] { read_arrays(path); });
  if (what == "rows") return best_of(runs, [&] { read_blocks(path); });
  if (what == "bytes") return best_of(runs, [&] { read_bytes(path); });
  const Rows rows = what == "long" ? weights_like(64, 1000000, 1, 1) : weights_like(2048, 2048, 16, 2048);
  return best_of(runs, [&] { write_rows(path, rows); });
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  try {
    const double seconds = seconds_of(words[1], words[2], std::stoi(words[3]));
    std::printf("%.6f %.1f\n", seconds, peak_memory());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.kind());
  }
  return 0;
}
