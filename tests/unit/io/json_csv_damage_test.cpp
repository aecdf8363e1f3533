// Damaged text files are refused with the right kind of error or read as something valid; nothing else may happen.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "text_support.hpp"

namespace attn::testing {
namespace {

class DamagedText : public TextFolder {
 protected:
  /// Reads everything in the file; returns whether that was refused.
  bool refused(const std::string& name, std::string_view content) {
    try {
      const auto file = open(name, content);
      for (std::size_t i = 0; i < file->members().size(); ++i)
        if (file->members()[i].kind == MemberKind::array) check_array(*file, i);
      return false;
    } catch (const Error& error) {
      const bool right_kind =
          error.kind() == ErrorKind::malformed || error.kind() == ErrorKind::mismatch || error.kind() == ErrorKind::memory;
      EXPECT_TRUE(right_kind) << error.what();
      EXPECT_LE(error.message().size(), 300u) << error.what();
      EXPECT_EQ(error.message().find_first_of(std::string_view("\n\r\0\x1b", 4)), std::string::npos) << error.what();
      EXPECT_NE(error.message().find(name), std::string::npos) << error.what();
      return true;
    }
  }

  void damage(const std::string& name, const std::string& good) {
    ASSERT_FALSE(refused(name, good));
    int refusals = 0;
    for (std::size_t length = 0; length < good.size(); ++length) refusals += refused(name, good.substr(0, length));
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const unsigned change : {0u, 1u, 2u, 3u}) {
        const unsigned char was = static_cast<unsigned char>(good[at]);
        const unsigned changed[] = {0u, 0xffu, was ^ 1u, was ^ 0x80u};
        std::string bad = good;
        bad[at] = static_cast<char>(changed[change]);
        refusals += refused(name, bad);
      }
    EXPECT_GT(refusals, static_cast<int>(good.size())) << "damage must mostly be seen";
  }

 private:
  static void check_array(ArrayFile& file, std::size_t member) {
    const Shape shape = file.members()[member].shape;
    const Array array = file.read(member, MemoryBudget());
    ASSERT_EQ(array.shape, shape);
    ASSERT_EQ(array.bytes.size(), static_cast<std::size_t>(array.size()) * item_size(array.dtype));
  }
};

TEST_F(DamagedText, Json) {
  damage("a.json",
         R"({"tokens":["The","c\u00e1t","\ud83d\ude00"],"query":[[1,-2.5e-3,0],[NaN,"Infinity",1E5]], "mask":[[true,false]],
 "options":{"heads":2,"window":[-1,0]},"meta":{"x":[null,{"y":[]}]},"embeddings":{"The":[1,2],"caf)"
         "\xc3\xa9"
         R"(":[3,4]}})");
  damage("b.json", R"([{"token":"a","embedding":[1,2]},{"embedding":[3,4],"token":"b"}])");
}

TEST_F(DamagedText, JsonOfThisTool) {
  damage(
      "c.json",
      R"({"schema":"attn-cli/1","shape":[2,2,2],"query_tokens":["a","b"],"key_tokens":["a","b"],"scale":0.5,"mask_text":"causal",
 "allowed":[[[[0,1]],[[0,2]]],[[],[[0,1],[1,2]]]],"weights":[[[1,0],[0.5,0.5]],[[0,0],[0.25,0.75]]]})");
}

TEST_F(DamagedText, Csv) {
  damage("a.csv", "x,\"y \"\"z\"\"\",w\r\n1,-2.5e-3,0\r\n\"4\",nan,6\r\n");
  damage("b.csv", "head,query,\"a\nb\",c\n0,x,1,2\n0,y,3,4\n1,x,5,6\n1,y,7,8\n");
  damage("c.tsv", "The\t1\t2\ncat\t3\t4\n");
  damage("d.txt", "1.25  2\n3 4e5\n");
}

/// The numbers of a plain table by the simplest of readers: nothing unless every cell of every line is one whole number and
/// all lines have as many cells.
std::optional<std::vector<std::vector<double>>> plain_table(std::string_view text) {
  std::vector<std::vector<double>> rows;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    rows.emplace_back();
    for (bool more = true; more;) {
      const std::size_t comma = std::min(line.find(','), line.size());
      const std::string_view cell = line.substr(0, comma);
      more = comma < line.size();
      line.remove_prefix(more ? comma + 1 : comma);
      double value = 0;
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || stop != cell.data() + cell.size()) return std::nullopt;
      rows.back().push_back(value);
    }
    if (rows.back().size() != rows.front().size()) return std::nullopt;
  }
  if (rows.empty()) return std::nullopt;
  return rows;
}

TEST_F(DamagedText, ACutTableIsTheShorterTableOrRefused) {
  const std::string good = "1,-2.5e-3,0\n4,5.25,600\n-7,8.125,9e2\n";
  int read = 0;
  for (std::size_t length = 0; length <= good.size(); ++length) {
    const std::string cut = good.substr(0, length);
    const auto expected = plain_table(cut);
    ASSERT_EQ(refused("cut.csv", cut), !expected.has_value()) << cut;
    if (!expected) continue;
    const auto file = open("cut.csv", cut);
    ASSERT_EQ(file->members()[0].shape,
              (Shape{static_cast<Index>(expected->size()), static_cast<Index>(expected->front().size())}));
    std::vector<double> all;
    for (const std::vector<double>& row : *expected) all.insert(all.end(), row.begin(), row.end());
    EXPECT_EQ(numbers_of(*file), all) << cut;
    ++read;
  }
  EXPECT_GT(read, 8);
}

TEST_F(DamagedText, ACutNumberIsTheShorterNumberOrRefused) {
  const std::string good = "-12.50e-3";
  std::vector<std::string> read;
  for (std::size_t length = 0; length <= good.size(); ++length) {
    const std::string cut = good.substr(0, length);
    if (refused("cut.json", cut)) continue;
    const auto file = open("cut.json", cut);
    EXPECT_EQ(file->members()[0].text, cut);
    read.push_back(cut);
  }
  EXPECT_EQ(read, (std::vector<std::string>{"-1", "-12", "-12.5", "-12.50", "-12.50e-3"}));
}

/// Files are read in pieces: whatever stands where two of them meet must be read as it is elsewhere.
class PiecesOfText : public TextFolder {
 protected:
  /// What reading gives, in one line.
  std::string outcome(const std::string& name, std::string_view content, const ReadOptions& options) {
    try {
      const auto file = open(name, content, options);
      std::string text;
      for (std::size_t i = 0; i < file->members().size(); ++i) {
        const Member& member = file->members()[i];
        text += member.name + shape_text(member.shape) + member.text + member.found + "\n";
        for (const auto* list : {&member.strings, &member.labels.query_tokens, &member.labels.key_tokens})
          for (const std::string& word : *list) text += word + "|";
        if (member.kind == MemberKind::array)
          for (const double value : numbers_of(*file, i)) text += std::to_string(value) + " ";
      }
      return text;
    } catch (const Error& error) {
      const std::string& message = error.message();
      return message.substr(message.rfind(": "));
    }
  }

  void expect_same_at_every_place(const std::string& name, std::string_view content, const ReadOptions& options = {}) {
    const std::string expected = outcome(name, content, options);
    constexpr std::size_t kPiece = std::size_t{256} << 10;
    for (std::size_t before = 0; before <= content.size() + 1; ++before) {
      std::string padded(kPiece - before, ' ');
      padded += content;
      ASSERT_EQ(outcome(name, padded, options), expected) << before;
    }
  }
};

TEST_F(PiecesOfText, Json) {
  expect_same_at_every_place("a.json", R"({"a":[-12.25e-3,NaN,-Infinity,1e5,0],"t":["\u00e9\"x","é"],"b":true,"c":-7})");
  expect_same_at_every_place("a.json", "[1.5,2e]");
  expect_same_at_every_place("a.json", "[\"\xff\"]");
  expect_same_at_every_place("a.json", "[-Infinit]");
}

TEST_F(PiecesOfText, Csv) {
  expect_same_at_every_place("a.csv", "1.5,-2.25e-3\r\n nan,\"4\"\r\n5 , 6\r7,-.5");
  expect_same_at_every_place("a.csv", "1,2\n\"3\",\"4\"\"\"\n");
  expect_same_at_every_place("a.txt", "1.5 -2e-3\n3  4 \n", {.delimiter = ' '});
}

TEST_F(PiecesOfText, CsvLabels) {
  std::string rows;
  while (rows.size() < (std::size_t{256} << 10) - 40) rows += "\"a \"\"b\"\"\",1.5,2\r\n";
  for (std::size_t more = 1; more < 80; ++more) {
    const auto file = open("a.csv", "\"" + std::string(more, 'x') + "\",1,2\r\n" + rows);
    const Member& member = file->members()[0];
    ASSERT_EQ(member.labels.query_tokens.size(), static_cast<std::size_t>(member.shape[0]));
    for (std::size_t i = 1; i < member.labels.query_tokens.size(); ++i) ASSERT_EQ(member.labels.query_tokens[i], "a \"b\"");
    for (const double value : numbers_of(*file)) ASSERT_TRUE(value == 1 || value == 1.5 || value == 2);
  }
}

/// Numbers with random bits: every exponent, subnormals, the extremes.
template <typename Real, typename Bits>
std::vector<Real> random_reals(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Real> values;
  for (const Bits bits : {Bits{0}, Bits{1}, Bits{2}}) values.push_back(std::bit_cast<Real>(bits));
  using Limits = std::numeric_limits<Real>;
  for (const Real value : {Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), Limits::epsilon()})
    values.push_back(value);
  values.push_back(std::nextafter(Limits::min(), Real{0}));
  while (values.size() < count) {
    const Real value = std::bit_cast<Real>(static_cast<Bits>(random()));
    const Real subnormal = std::bit_cast<Real>(static_cast<Bits>(random() >> (sizeof(Bits) == 4 ? 42 : 13)));
    if (std::isfinite(value)) values.push_back(value);
    values.push_back(subnormal);
  }
  values.resize(count);
  return values;
}

class TextNumbers : public TextFolder {
 protected:
  template <typename Real, typename Bits>
  void expect_bits_back(std::string_view format, std::size_t count) {
    const std::vector<Real> values = random_reals<Real, Bits>(count);
    ArrayHeader header;
    header.name = "weights";
    header.shape = {static_cast<Index>(count / 100), 100};
    const auto file = open("w." + std::string(format), written(format, header, values, 50));
    const Array array = file->read(member_at(*file, format == "json" ? "weights" : ""), MemoryBudget());
    ASSERT_EQ(array.shape, header.shape);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
      wrong += std::bit_cast<Bits>(static_cast<Real>(array.data<double>()[i])) != std::bit_cast<Bits>(values[i]);
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(TextNumbers, FloatsComeBackBitForBit) {
  expect_bits_back<float, std::uint32_t>("csv", 1000000);
  expect_bits_back<float, std::uint32_t>("json", 1000000);
}

TEST_F(TextNumbers, DoublesComeBackBitForBit) {
  expect_bits_back<double, std::uint64_t>("csv", 300000);
  expect_bits_back<double, std::uint64_t>("tsv", 10000);
  expect_bits_back<double, std::uint64_t>("json", 300000);
}

}  // namespace
}  // namespace attn::testing
