// Reads or writes one file several times and prints the best CPU seconds: what formats.py sets beside Python's readers.
//   bench-formats read FILE RUNS      open_array_file and read of every array
//   bench-formats bytes FILE RUNS     the bytes alone, into fresh memory
//   bench-formats write FILE RUNS     the float32 rows that formats.py made, in the format of the name
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
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
  for (std::size_t i = 0; i < file->members().size(); ++i)
    if (file->members()[i].kind == MemberKind::array) file->read(i, run.budget);
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

constexpr Index kSide = 2048;

void write_rows(const std::string& path, const std::vector<float>& numbers) {
  OutputFiles files(false);
  ArrayHeader header;
  header.name = "weights";
  header.dtype = DType::f32;
  header.shape = {kSide, kSide};
  header.with_labels = false;
  const auto sink = make_array_writer(data_format_of(path), header, {}, files.open(path));
  std::string encoded;
  for (Index first = 0; first < kSide; first += 16) {
    const RowBlock rows{first, 16, kSide, DType::f32, numbers.data() + first * kSide, kSide};
    encoded.clear();
    sink->encode(rows, encoded);
    sink->append(rows, encoded);
  }
  sink->finish();
  files.commit();
}

std::vector<float> weights_like() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1.0F / kSide);
  std::vector<float> numbers(static_cast<std::size_t>(kSide * kSide));
  for (float& number : numbers) number = uniform(random);
  return numbers;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const std::string what = words[1], path = words[2];
  const int runs = std::stoi(words[3]);
  try {
    double seconds = 0;
    if (what == "read") {
      seconds = best_of(runs, [&] { read_arrays(path); });
    } else if (what == "bytes") {
      seconds = best_of(runs, [&] { read_bytes(path); });
    } else {
      const std::vector<float> numbers = weights_like();
      seconds = best_of(runs, [&] { write_rows(path, numbers); });
    }
    std::printf("%.6f\n", seconds);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.kind());
  }
  return 0;
}
