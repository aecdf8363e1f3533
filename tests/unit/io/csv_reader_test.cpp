#include <cmath>
#include <limits>

#include "text_support.hpp"

namespace attn::testing {
namespace {

using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

class CsvReader : public TextFolder {
 protected:
  std::unique_ptr<ArrayFile> open_csv(std::string_view content, const ReadOptions& options = {}) {
    return open("v.csv", content, options);
  }
  std::string csv_fault(std::string_view content, const ReadOptions& options = {}) { return fault("v.csv", content, options); }
  /// "[2,2] 1 2 3 4".
  std::string grid(std::string_view content, const ReadOptions& options = {}, const std::string& name = "v.csv") {
    const auto file = open(name, content, options);
    std::string text = shape_text(file->members()[0].shape);
    for (const double value : numbers_of(*file)) text += " " + std::to_string(value).substr(0, 3);
    return text;
  }
  const AxisLabels& labels(std::string_view content, const ReadOptions& options = {}) {
    file_ = open_csv(content, options);
    return file_->members()[0].labels;
  }

 private:
  std::unique_ptr<ArrayFile> file_;
};

TEST_F(CsvReader, ShapesAreWhatTheLinesSay) {
  EXPECT_EQ(grid("1,2,3"), "[1,3] 1.0 2.0 3.0");
  EXPECT_EQ(grid("1\n2\n3"), "[3,1] 1.0 2.0 3.0");
  EXPECT_EQ(grid("3.5"), "[1,1] 3.5");
  EXPECT_EQ(grid("1,2\n3,4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1,2\n3,4"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1,2\n3,4\n\n \n"), "[2,2] 1.0 2.0 3.0 4.0");
  const auto file = open_csv("1,2\n");
  EXPECT_EQ(file->members()[0].name, "");
  EXPECT_EQ(file->members()[0].where, "v.csv");
  EXPECT_TRUE(file->members()[0].is_text);
  EXPECT_EQ(file->members()[0].dtype, DType::f64);
}

TEST_F(CsvReader, TakesEveryLineEndAndAByteOrderMark) {
  EXPECT_EQ(grid("1,2\r3,4\r"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1,2\r\n3,4\r\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("\xef\xbb\xbf"
                 "1,2\n"),
            "[1,2] 1.0 2.0");
  EXPECT_NE(csv_fault(std::string_view("\xff\xfe"
                                       "1\0,\0",
                                       6))
                .find("UTF-16"),
            std::string::npos);
}

TEST_F(CsvReader, FindsTheDelimiter) {
  EXPECT_EQ(grid("1;2\n3;4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1\t2\n3\t4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1 2\n3 4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("  1   2 \n 3 \t 4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid(" 1 ,\t2\n"), "[1,2] 1.0 2.0");
  EXPECT_EQ(grid("1, 2\n3, 4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("1;2\n", {.delimiter = ';'}), "[1,2] 1.0 2.0");
  EXPECT_EQ(grid("1|2\n", {.delimiter = '|'}), "[1,2] 1.0 2.0");
  EXPECT_EQ(grid("1\t2\n", {}, "v.tsv"), "[1,2] 1.0 2.0");
  EXPECT_EQ(grid("1 2\n3 4\n", {}, "v.txt"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(labels("a,b;1;2\nc,d;3;4\n").query_tokens, (Strings{"a,b", "c,d"}));
  EXPECT_EQ(labels("\"The cat\" 1 2\n\"is\" 3 4\n").query_tokens, (Strings{"The cat", "is"}));
}

TEST_F(CsvReader, BlanksBesideAnotherDelimiterGroupDigits) {
  EXPECT_EQ(csv_fault("7,1 000\n8,2 000\n").substr(0, 12), "3: v.csv:1:2");
  EXPECT_EQ(csv_fault("1,2 3\n4,5 6\n").substr(0, 12), "3: v.csv:1:2");
  EXPECT_EQ(csv_fault("1;2 3\n").substr(0, 12), "3: v.csv:1:2");
  EXPECT_EQ(csv_fault("1\t2 3\n4\t5 6\n").substr(0, 12), "3: v.csv:1:2");
  EXPECT_EQ(labels("\"a,b\" 1 2\n\"c;d\" 3 4\n").query_tokens, (Strings{"a,b", "c;d"}));
  EXPECT_EQ(grid("1 2 \t\n3 4\t\n"), "[2,2] 1.0 2.0 3.0 4.0");
}

TEST_F(CsvReader, ReadsQuotedCells) {
  EXPECT_EQ(grid("\"1.5\",\"2\"\n"), "[1,2] 1.5 2.0");
  EXPECT_EQ(labels("\"a\nb\",1\n\"say \"\"hi\"\"\",2\n\",\",3\n").query_tokens, (Strings{"a\nb", "say \"hi\"", ","}));
  EXPECT_EQ(labels("\"a\" ,1\n\"b\",2\n").query_tokens, (Strings{"a", "b"}));
  EXPECT_EQ(labels("5\" pipe,1\nx,2\n", {.header = Tristate::no}).query_tokens, (Strings{"5\" pipe", "x"}));
  EXPECT_EQ(csv_fault("1,2\n\"3,4\n"), "3: v.csv:2:1: this quote is never closed");
  EXPECT_EQ(csv_fault("\"1\"2,3\n"), "3: v.csv:1:1: text after the closing quote; a quote inside a cell is doubled");
  EXPECT_EQ(csv_fault("\"a\r\nb\",1\nc,x\n"), "3: v.csv:3:2: 'x' is not a number") << "lines inside quotes count";
}

TEST_F(CsvReader, FindsHeadingsAndLabels) {
  EXPECT_EQ(grid("a,b\n1,2\n"), "[1,2] 1.0 2.0");
  EXPECT_EQ(labels("a,b\n1,2\n").key_tokens, (Strings{"a", "b"}));
  EXPECT_EQ(labels("a,b\n1,2\n").query_tokens, Strings{});
  EXPECT_EQ(grid("The,1,0\ncat,0,1\n"), "[2,2] 1.0 0.0 0.0 1.0");
  EXPECT_EQ(labels("The,1,0\ncat,0,1\n").query_tokens, (Strings{"The", "cat"}));
  EXPECT_EQ(labels(",x,y\nThe,1,0\n").key_tokens, (Strings{"x", "y"}));
  EXPECT_EQ(labels(",x,y\nThe,1,0\n").query_tokens, (Strings{"The"}));
  EXPECT_EQ(labels(" The ,1\n cat,2\n").query_tokens, (Strings{" The ", " cat"})) << "labels are exact";
}

TEST_F(CsvReader, OptionsOverruleTheDetection) {
  EXPECT_EQ(labels("2020,2021\n1,2\n", {.header = Tristate::yes}).key_tokens, (Strings{"2020", "2021"}));
  EXPECT_EQ(csv_fault("a,b\n1,2\n", {.header = Tristate::no}).substr(0, 12), "3: v.csv:1:2");
  EXPECT_EQ(labels("7,1\n8,2\n", {.label_column = Tristate::yes}).query_tokens, (Strings{"7", "8"}));
  EXPECT_EQ(csv_fault("The,1\n", {.label_column = Tristate::no}), "3: v.csv:1:1: 'The' is not a number");
  EXPECT_EQ(csv_fault("The,1\n2,3\n"), "3: v.csv:1:1: 'The' is not a number, and as line 2 has a number there it is no label");
  EXPECT_EQ(labels("The,1\n2,3\n", {.label_column = Tristate::yes}).query_tokens, (Strings{"The", "2"}));
  EXPECT_EQ(labels("h,a\n1,2\n", {.label_column = Tristate::yes}).key_tokens, (Strings{"a"}));
}

TEST_F(CsvReader, RefusesWhatIsNoNumber) {
  EXPECT_EQ(csv_fault("1.5abc,2\n3,4\n"),
            "3: v.csv:1:1: '1.5abc' is not a number, and as line 2 has a number there it is no label");
  EXPECT_EQ(csv_fault("1,2\n3,1.5abc\n"), "3: v.csv:2:2: '1.5abc' is not a number");
  for (const char* cell :
       {"1_000", "0x1p3", "0x10", "1e", "1 000", "1.2.3", "--1", "NaN(7)", "1f", "e5", "-", "+", ".", "+-1", "\"\"1\"\""})
    EXPECT_EQ(csv_fault(std::string("1,2\n3,") + cell + "\n").substr(0, 14), "3: v.csv:2:2: ") << cell;
}

TEST_F(CsvReader, RefusesRaggedLinesAndEmptyCells) {
  EXPECT_EQ(csv_fault("1,2\n3\n"), "3: v.csv:2:2: line has 1 cell, line 1 has 2");
  EXPECT_EQ(csv_fault("1,2\n3,4,5\n"), "3: v.csv:2:3: line has 3 cells, line 1 has 2");
  EXPECT_EQ(csv_fault("a,b,c\n1,2\n"), "3: v.csv:2:3: line has 2 cells, line 1 has 3");
  EXPECT_EQ(csv_fault("1,,2\n"), "3: v.csv:1:2: empty cell, expected a number");
  EXPECT_EQ(csv_fault("1,2,\n"), "3: v.csv:1:3: empty cell, expected a number");
  EXPECT_EQ(csv_fault(",1,2\n"), "3: v.csv:1:1: empty cell, expected a number");
  EXPECT_EQ(csv_fault("1,\"\"\n"), "3: v.csv:1:2: empty cell, expected a number");
  EXPECT_EQ(csv_fault("1,2\n\n3,4\n"), "3: v.csv:2:1: blank line");
  EXPECT_EQ(csv_fault("1,2\n  \n\n3,4\n"), "3: v.csv:2:1: blank line");
  EXPECT_EQ(csv_fault("\n1,2\n"), "3: v.csv:1:1: blank line");
  EXPECT_EQ(csv_fault("1\t\t2\n"), "3: v.csv:1:2: empty cell, expected a number");
}

TEST_F(CsvReader, RefusesFilesWithoutNumbers) {
  EXPECT_EQ(csv_fault(""), "3: v.csv: empty file");
  EXPECT_EQ(csv_fault("\n\n  \n"), "3: v.csv: no numbers, only blank lines");
  EXPECT_EQ(csv_fault("a,b,c\n"), "3: v.csv:1:1: 'a' is not a number, and no line has any");
  EXPECT_EQ(csv_fault("a\r b\r c\n"), "3: v.csv:2:1: ' b' is not a number");
  EXPECT_EQ(csv_fault(std::string_view("1,2\0,3\n", 7)), "3: v.csv:1:2: a NUL byte, expected text");
}

TEST_F(CsvReader, ReadsNumbersExactly) {
  const Numbers values = numbers_of(*open_csv("7,1e-400\n4.9e-324,-0\n+1.5,.5\n5.,1E3\n"));
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(values[3]));
  EXPECT_EQ(values[4], 1.5);
  EXPECT_EQ(values[5], 0.5);
  EXPECT_EQ(values[6], 5);
  EXPECT_EQ(values[7], 1000);
  EXPECT_EQ(csv_fault("1,1e400\n"), "3: v.csv:1:2: the number 1e400 is out of range (at most 1.8e308)");
  const Numbers odd = numbers_of(*open_csv("1,nan\ninf,-Infinity\nNAN,+INF\n"));
  EXPECT_TRUE(std::isnan(odd[1]) && std::isnan(odd[4]));
  EXPECT_EQ(odd[2], INFINITY);
  EXPECT_EQ(odd[3], -INFINITY);
  EXPECT_EQ(odd[5], INFINITY);
}

TEST_F(CsvReader, RefusesCellsThatAreTooLong) {
  EXPECT_EQ(csv_fault(std::string(3000000, '1')), "6: v.csv:1:1: a cell of over 1 MiB");
  EXPECT_EQ(csv_fault("\"" + std::string(3000000, 'x') + "\",1"), "6: v.csv:1:1: a cell of over 1 MiB");
  EXPECT_EQ(csv_fault("1," + std::string(3000000, ' ') + "1").substr(0, 3), "6: ");
  EXPECT_NE(csv_fault(std::string(1000000, '1')).find("out of range"), std::string::npos);
  EXPECT_EQ(grid("1." + std::string(900000, '0') + ",2"), "[1,2] 1.0 2.0");
}

TEST_F(CsvReader, ReadsFilesOfThisTool) {
  EXPECT_EQ(grid("query,1,2\n3,4,5\n"), "[1,2] 4.0 5.0");
  EXPECT_EQ(labels("query,1,2\n3,4,5\n").key_tokens, (Strings{"1", "2"}));
  EXPECT_EQ(labels("query,1,2\n3,4,5\n").query_tokens, (Strings{"3"}));
  EXPECT_EQ(labels("query,0,1\n0,4,5\n").key_tokens, Strings{}) << "labels that only count say nothing";
  EXPECT_EQ(labels("query,\",\",\"\"\"\",\"a\nb\"\n\",\",1,2,3\n").key_tokens, (Strings{",", "\"", "a\nb"}));
  EXPECT_EQ(grid("head,query,x,y\n0,a,1,2\n0,b,3,4\n1,a,5,6\n1,b,7,8\n"), "[2,2,2] 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0");
  EXPECT_EQ(labels("head,query,x,y\n0,a,1,2\n0,b,3,4\n1,a,5,6\n1,b,7,8\n").query_tokens, (Strings{"a", "b"}));
  EXPECT_EQ(grid("batch,head,query,x\n0,0,a,1\n0,1,a,2\n1,0,a,3\n1,1,a,4\n"), "[2,2,1,1] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("batch,head,query,x\n0,0,a,1\n1,0,a,2\n2,0,a,3\n"), "[3,1,1,1] 1.0 2.0 3.0");
  EXPECT_EQ(grid("query,lse\na,1\nb,2\n"), "[2] 1.0 2.0");
  EXPECT_EQ(grid("head,query,lse\n0,a,1\n0,b,2\n1,a,3\n1,b,4\n"), "[2,2] 1.0 2.0 3.0 4.0");
  EXPECT_EQ(grid("key,0,1\nThe,1,2\n"), "[1,2] 1.0 2.0");
  EXPECT_EQ(grid("query,a,b\n"), "[0,2]");
  EXPECT_EQ(grid("query\na\nb\n"), "[2,0]");
  EXPECT_EQ(grid("query\t,\tcat\n,\t1\t2\n"), "[1,2] 1.0 2.0");
}

TEST_F(CsvReader, RefusesIncompleteFilesOfThisTool) {
  for (const char* rows : {"0,a,1\n0,b,2\n1,a,3\n", "0,a,1\n1,a,2\n1,b,3\n", "1,a,1\n", "0,a,1\n2,a,2\n", "0,a,1\n1,b,2\n",
                           "0,a,1\n1,a,2\n0,a,3\n", "x,a,1\n", "-1,a,1\n", "0,a,1\n0.5,a,1\n"})
    EXPECT_EQ(csv_fault(std::string("head,query,x\n") + rows).substr(0, 9), "3: v.csv:") << rows;
  for (const char* rows :
       {"0,0,a,1\n0,1,a,2\n1,0,a,3\n", "0,0,a,1\n1,0,a,2\n1,1,a,3\n", "0,0,a,1\n1,1,a,2\n", "0,0,a,1\n0,1,a,1\n2,0,a,1\n"})
    EXPECT_EQ(csv_fault(std::string("batch,head,query,x\n") + rows).substr(0, 9), "3: v.csv:") << rows;
}

TEST_F(CsvReader, ReadsAcrossTheEndsOfPieces) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + (i % 3 == 2 ? "\r\n" : ", ");
  const auto file = open_csv(text);
  ASSERT_EQ(file->members()[0].shape, (Shape{100000, 3}));
  for (int time = 0; time < 2; ++time) {
    const Numbers values = numbers_of(*file);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
  }
  double row[3];
  file->read_rows(0, 99999, 1, row);
  EXPECT_EQ(row[2], 299999);
}

}  // namespace
}  // namespace attn::testing
