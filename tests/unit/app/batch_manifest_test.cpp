#include "app/batch_manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attn::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BatchJob only(std::string_view line) {
  std::vector<BatchJob> jobs = parse_manifest(line, "m.jsonl", "folder/");
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.at(0);
}

std::string fault(std::string_view line) {
  const BatchJob job = only(line);
  return job.fault ? job.fault->message() : "none";
}

TEST(Manifest, AZeroByteIsNotTheEnd) {
  using namespace std::string_view_literals;
  EXPECT_THAT(fault("{\"command\":\"compute\",\"input\":\"a.json\",\"output\":\"-\"}\0junk"sv),
              HasSubstr(": found no valid JSON"));
}

TEST(Manifest, KeysBecomeWordsAndPathsAreOfTheManifest) {
  const BatchJob job =
      only(R"({"command":"compute","input":"a.json","causal":true,"alibi":false,"scale":0.5,"window":[-1,2],"heads":2,)"
           R"("weights":["w.csv","/abs/w.png"],"mask":"m.npz:mask","tokens":"@t.txt","key-tokens":"x y"})");
  ASSERT_FALSE(job.fault) << job.fault->message();
  EXPECT_EQ(job.command->name, "compute");
  EXPECT_THAT(job.words.inputs, ElementsAre("folder/a.json"));
  EXPECT_THAT(job.words.values("--weights"), ElementsAre("folder/w.csv", "/abs/w.png"));
  EXPECT_EQ(job.words.value("--mask"), "folder/m.npz:mask");
  EXPECT_EQ(job.words.value("--tokens"), "@folder/t.txt");
  EXPECT_EQ(job.words.value("--key-tokens"), "x y");
  EXPECT_EQ(job.words.value("--scale"), "0.5");
  EXPECT_EQ(job.words.value("--window"), "-1,2");
  EXPECT_EQ(job.words.value("--heads"), "2");
  EXPECT_TRUE(job.words.has("--causal"));
  EXPECT_FALSE(job.words.has("--alibi"));
  EXPECT_EQ(job.outputs.size(), 2U);
  EXPECT_EQ(job.inputs.size(), 3U);
  EXPECT_EQ(job.outputs[0].written, "w.csv");
}

TEST(Manifest, EveryFileOptionIsEitherReadOrWritten) {
  for (const std::string_view line : {R"({"command":"compute","output":"o.npy","scores":"s.npy","lse":"l.npy","heatmap":"h.png",
        "weights":"w.npy","present-key":"k.npy","present-value":"v.npy","bundle":"b.npz"})",
                                      R"({"command":"render","input":"i.csv","output":"o.png"})"}) {
    std::string flat(line);
    std::erase(flat, '\n');
    const BatchJob job = only(flat);
    ASSERT_FALSE(job.fault) << job.fault->message();
    EXPECT_EQ(job.outputs.size(), job.command->name == "compute" ? 8U : 1U);
    std::size_t files = 0, repeatable = 0;
    for (const OptionSpec& option : job.command->options) {
      files += option.kind == ValueKind::file;
      repeatable += option.kind == ValueKind::file && option.repeatable;
    }
    EXPECT_EQ(repeatable, job.outputs.size());
    EXPECT_GT(files, repeatable);
  }
}

TEST(Manifest, HashIsOfTheContent) {
  const auto hash = [](std::string_view line) { return only(line).hash; };
  const std::uint64_t plain = hash(R"({"command":"compute","input":"a","weights":"w.csv"})");
  EXPECT_EQ(plain, hash(R"(  {"weights": "w.csv", "input":"\u0061",  "command":"compute"})"));
  EXPECT_NE(plain, hash(R"({"command":"compute","input":"b","weights":"w.csv"})"));
  EXPECT_NE(hash("nonsense"), hash("nonsensf"));
}

TEST(Manifest, LinesAreCountedAndBlankOnesAreNoJobs) {
  const auto jobs = parse_manifest("\xef\xbb\xbf\n{\"command\":\"compute\",\"lse\":\"l.csv\"}\r\n  \n[]", "m.jsonl", "");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].line, 2);
  EXPECT_FALSE(jobs[0].fault);
  EXPECT_EQ(jobs[1].line, 4);
  EXPECT_THAT(jobs[1].fault->message(), HasSubstr("m.jsonl:4"));
}

TEST(Manifest, FaultsNameTheLineAndTheNearestKey) {
  EXPECT_THAT(fault("{\"command\""), HasSubstr("m.jsonl:1:"));
  EXPECT_THAT(fault(R"({"command":"compute","cuasal":true})"), HasSubstr("'cuasal' is no option of compute"));
  EXPECT_EQ(only(R"({"command":"compute","cuasal":true})").fault->hint(), "did you mean 'causal'?");
  EXPECT_THAT(fault(R"({"command":"compute","lse":{"a":1}})"), HasSubstr("'lse': expected a text"));
  EXPECT_THAT(fault(std::string(100000, '[')), HasSubstr("nested too deeply"));
}

TEST(Manifest, ALaterWriterAndAReaderOfWhatIsWrittenAreRefused) {
  auto jobs = parse_manifest(
      "{\"command\":\"compute\",\"input\":\"x.csv\",\"lse\":\"a.csv\"}\n{\"command\":\"compute\",\"lse\":\"./a.csv\"}\n"
      "{\"command\":\"render\",\"input\":\"b.csv\",\"output\":\"c.png\"}\n{\"command\":\"compute\",\"lse\":\"b.csv\"}",
      "m", "");
  refuse_shared_paths(jobs, "m");
  EXPECT_FALSE(jobs[0].fault);
  EXPECT_THAT(jobs[1].fault->message(), HasSubstr("m:2: './a.csv' is written by line 1"));
  EXPECT_THAT(jobs[2].fault->message(), HasSubstr("m:3: reads 'b.csv', which line 4 writes"));
  EXPECT_FALSE(jobs[3].fault);
}

}  // namespace
}  // namespace attn::app
