#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

// What the compiler made of the tile layer: looked at with the tools that take objects apart.
namespace attn {
namespace {

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return lines;
  std::array<char, 4096> piece;
  std::string line;
  while (std::fgets(piece.data(), piece.size(), pipe)) {
    line += piece.data();
    if (line.back() != '\n') continue;
    line.pop_back();
    lines.push_back(line);
    line.clear();
  }
  return pclose(pipe) == 0 ? lines : std::vector<std::string>{};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == '|')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::string object_of(const std::string& source) {
  for (const std::string& object : split(ATTN_TILE_OBJECTS))
    if (object.find(source) != std::string::npos) return object;
  return {};
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Instructions of each function of an object.
std::map<std::string, std::vector<std::string>> functions_of(const std::string& object) {
  std::map<std::string, std::vector<std::string>> functions;
  std::string name;
  for (const std::string& line : lines_of("objdump -d -C --no-show-raw-insn '" + object + "'")) {
    const std::size_t open = line.find(" <"), close = line.rfind(">:");
    if (open != std::string::npos && close == line.size() - 2)
      name = line.substr(open + 2, close - open - 2);
    else if (!name.empty() && !line.empty() && line[0] == ' ')
      functions[name].push_back(line);
  }
  return functions;
}

/// The loops that do nearly all the work must keep their sums in registers: no vector goes through the stack in them.
TEST(TileObjects, HotKernelsDoNotSpill) {
  const std::string object = object_of("tile_avx2.cpp");
  ASSERT_FALSE(object.empty());
  int looked_at = 0;
  for (const auto& [name, instructions] : functions_of(object)) {
    const bool scores = holds(name, "score_tile<") && !holds(name, "row_") && holds(name, ", false>");
    const bool sums = holds(name, "sum_tile<") && !holds(name, "row_");
    if (!scores && !sums) continue;
    ++looked_at;
    for (const std::string& line : instructions)
      EXPECT_FALSE(holds(line, "ymm") && (holds(line, "(%rsp") || holds(line, "(%rbp"))) << name << "\n" << line;
  }
  // Each precision has full tiles and rests of three widths, of scores and of sums.
  EXPECT_GE(looked_at, 2 * 2 * 6);
}

/// A full tile takes one load for each vector of the panel and one for each scalar: a vector that is loaded again for
/// every product makes loads the bottleneck.
TEST(TileObjects, PanelVectorsAreLoadedOnce) {
  int looked_at = 0;
  for (const auto& [name, instructions] : functions_of(object_of("tile_avx2.cpp"))) {
    if (!holds(name, "_tile<xsimd::batch<float") || !holds(name, ", 4, 3") || holds(name, "row_") || holds(name, ", true>"))
      continue;
    ++looked_at;
    int products = 0, from_memory = 0;
    for (const std::string& line : instructions) {
      if (!holds(line, "vfmadd")) continue;
      ++products;
      from_memory += holds(line, "(");
    }
    EXPECT_GE(products, 12) << name;
    // Adding to sums in memory at the end is done once, not once for each key.
    EXPECT_LE(from_memory, 12) << name;
  }
  EXPECT_EQ(looked_at, 2);
}

/// A function that two objects define is kept once by the linker: were it the one built for a newer CPU, the program would
/// die on an older one. So the files built for newer CPUs define nothing that can be merged.
TEST(TileObjects, NothingIsShared) {
  for (const char* source : {"tile_sse2.cpp", "tile_avx2.cpp", "tile_avx512.cpp"}) {
    const std::string object = object_of(source);
    ASSERT_FALSE(object.empty()) << source;
    const std::vector<std::string> symbols = lines_of("nm -C --defined-only '" + object + "'");
    ASSERT_FALSE(symbols.empty()) << source;
    for (const std::string& line : symbols) {
      const char kind = line.size() > 17 ? line[17] : ' ';
      EXPECT_TRUE(kind != 'W' && kind != 'V' && kind != 'u' && kind != 'w' && kind != 'v') << source << ": " << line;
      const bool global = kind >= 'A' && kind <= 'Z';
      EXPECT_TRUE(!global || holds(line, "attn::tile::kTile")) << source << ": " << line;
    }
  }
}

}  // namespace
}  // namespace attn
