#include <cmath>
#include <limits>

#include "text_support.hpp"

namespace attn::testing {
namespace {

using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

class JsonReader : public TextFolder {
 protected:
  std::unique_ptr<ArrayFile> open_doc(std::string_view content) { return open("doc.json", content); }
  std::string doc_fault(std::string_view content) { return fault("doc.json", content); }
};

TEST_F(JsonReader, ReadsTheMembersOfAnObjectInFileOrder) {
  const auto file =
      open_doc(R"({"tokens":["The","cat"],"query":[[1,2.5],[-3e2,0]],"heads":2,"causal":true,"note":"x","none":null})");
  ASSERT_EQ(file->members().size(), 6u);
  EXPECT_EQ(file->members()[0].kind, MemberKind::strings);
  EXPECT_EQ(file->members()[0].strings, (Strings{"The", "cat"}));
  const Member& query = file->members()[1];
  EXPECT_EQ(query.name, "query");
  EXPECT_EQ(query.kind, MemberKind::array);
  EXPECT_EQ(query.where, "doc.json:/query");
  EXPECT_EQ(query.shape, (Shape{2, 2}));
  EXPECT_EQ(query.dtype, DType::f64);
  EXPECT_TRUE(query.is_text);
  EXPECT_EQ(numbers_of(*file, 1), (Numbers{1, 2.5, -300, 0}));
  EXPECT_EQ(file->members()[2].kind, MemberKind::scalar);
  EXPECT_EQ(file->members()[2].text, "2");
  EXPECT_EQ(file->members()[3].text, "true");
  EXPECT_EQ(file->members()[4].kind, MemberKind::text);
  EXPECT_EQ(file->members()[4].text, "x");
  EXPECT_EQ(file->members()[5].kind, MemberKind::other);
  EXPECT_EQ(file->members()[5].found, "null");
}

TEST_F(JsonReader, ReadsABareList) {
  const auto file = open_doc("[[[1,2]],[[3,4]],[[5,6]]]");
  ASSERT_EQ(file->members().size(), 1u);
  EXPECT_EQ(file->members()[0].name, "");
  EXPECT_EQ(file->members()[0].where, "doc.json");
  EXPECT_EQ(file->members()[0].shape, (Shape{3, 1, 2}));
  EXPECT_EQ(numbers_of(*file), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(open_doc(R"(["a","b"])")->members()[0].strings, (Strings{"a", "b"}));
}

TEST_F(JsonReader, KeepsScalarsAsWritten) {
  const auto file = open_doc(R"({"a":0.50,"b":-1E+2,"c":NaN,"d":123456789012345678901234567890})");
  EXPECT_EQ(file->members()[0].text, "0.50");
  EXPECT_EQ(file->members()[1].text, "-1E+2");
  EXPECT_EQ(file->members()[2].text, "NaN");
  EXPECT_EQ(file->members()[3].text, "123456789012345678901234567890");
}

TEST_F(JsonReader, TakesNonFiniteNumbersBareAndAsStrings) {
  const auto file = open_doc(R"({"a":[NaN,Infinity,-Infinity],"b":[[1,"NaN"],["Infinity","-Infinity"]]})");
  for (std::size_t member : {0u, 1u}) {
    const Numbers values = numbers_of(*file, member);
    EXPECT_TRUE(std::isnan(values[member]));
    EXPECT_EQ(values[member + 1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(values[member + 2], -std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(open_doc(R"(["NaN","x"])")->members()[0].strings, (Strings{"NaN", "x"}));
  EXPECT_EQ(open_doc(R"({"tokens":["NaN"]})")->members()[0].kind, MemberKind::strings);
  const auto lse = open_doc(R"({"lse":["-Infinity","-Infinity"]})");
  EXPECT_EQ(lse->members()[0].kind, MemberKind::array);
  EXPECT_EQ(numbers_of(*lse), (Numbers{-INFINITY, -INFINITY}));
  EXPECT_EQ(numbers_of(*open_doc(R"(["Infinity",1])")), (Numbers{INFINITY, 1}));
}

TEST_F(JsonReader, BareWordsDoNotMovePlacesOfErrors) {
  EXPECT_EQ(doc_fault("{\"a\":[NaN,\n -Infinity,Infinity x]}"), "3: doc.json:2:21: found 'x', expected ',' or ']'");
}

TEST_F(JsonReader, ReadsTrueAndFalseAsBooleans) {
  const auto file = open_doc("{\"mask\":[[true,false],[false,true]],\"mixed\":[[1,false],[true,0]]}");
  EXPECT_EQ(file->members()[0].dtype, DType::boolean);
  EXPECT_EQ(file->read(0, MemoryBudget()).bytes.size(), 4u);
  EXPECT_EQ(numbers_of(*file, 0), (Numbers{1, 0, 0, 1}));
  EXPECT_EQ(file->members()[1].dtype, DType::boolean);
  EXPECT_EQ(numbers_of(*file, 1), (Numbers{1, 0, 1, 0}));
  EXPECT_EQ(doc_fault("{\"m\":[true,2]}"), "3: doc.json:/m/1: expected true, false, 0 or 1, found 2");
  EXPECT_EQ(doc_fault("{\"m\":[0,2,true]}"), "3: doc.json:/m/2: expected a number, found true");
}

TEST_F(JsonReader, RoundsUnderflowAndRefusesOverflow) {
  const Numbers values = numbers_of(*open_doc("[1e-400,-0.0,4.9e-324,1e-40,2.5e-324]"));
  EXPECT_EQ(values[0], 0);
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_EQ(values[2], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(values[3], 1e-40);
  EXPECT_EQ(values[4], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(doc_fault("{\"q\":[[1e400]]}"), "3: doc.json:/q/0/0: the number 1e400 is out of range (at most 1.8e308)");
  EXPECT_EQ(doc_fault("{\"q\":-1e400}"), "3: doc.json:/q: the number -1e400 is out of range (at most 1.8e308)");
}

TEST_F(JsonReader, NamesThePlaceOfWrongValues) {
  EXPECT_EQ(doc_fault("{\"q\":[[1,2],[3]]}"), "3: doc.json:/q/1: row has 1 value, row 0 has 2");
  EXPECT_EQ(doc_fault("[[1,2],[3,4,5]]"), "3: doc.json:/1: row has 3 values, row 0 has 2");
  EXPECT_EQ(doc_fault("{\"q\":[[[1],[2]],[[3]]]}"), "3: doc.json:/q/1: list has 1 item, the first has 2");
  EXPECT_EQ(doc_fault("{\"q\":[[1],2]}"), "3: doc.json:/q/1: expected a list, found a number");
  EXPECT_EQ(doc_fault("{\"q\":[1,[2]]}"), "3: doc.json:/q/1: expected a number, found a list");
  EXPECT_EQ(doc_fault("{\"q\":[[\"1\"]]}"), "3: doc.json:/q/0/0: expected a number, found a string");
  EXPECT_EQ(doc_fault("{\"q\":[[1,null]]}"), "3: doc.json:/q/0/1: expected a number, found null");
  EXPECT_EQ(doc_fault("{\"q\":[[1,{}]]}"), "3: doc.json:/q/0/1: expected a number, found an object");
  EXPECT_EQ(doc_fault("{\"q\":[[0,5,true]]}"), "3: doc.json:/q/0/2: expected a number, found true");
  EXPECT_EQ(doc_fault("{\"tokens\":[\"a\",1]}"), "3: doc.json:/tokens/1: expected a string, found a number");
  EXPECT_EQ(doc_fault("{\"a/b~c\":[1,null]}"), "3: doc.json:/a~1b~0c/1: expected a number, found null");
  EXPECT_EQ(doc_fault("{\"q\":[[],[1]]}"), "3: doc.json:/q/1: row has 1 value, row 0 has 0");
  EXPECT_EQ(doc_fault("{\"q\":[[],1]}"), "3: doc.json:/q/1: expected a list, found a number");
  EXPECT_EQ(doc_fault("{\"q\":[[],[[]]]}"), "3: doc.json:/q/1/0: expected a number, found a list");
}

TEST_F(JsonReader, PlacesStayShort) {
  std::string text, end;
  for (int level = 0; level < 60; ++level) {
    text += "{\"" + std::string(200, '/') + "\":";
    end += "}";
  }
  const std::string message = doc_fault(text + "{\"a\":1,\"a\":2}" + end);
  EXPECT_LE(message.size(), 300u);
  EXPECT_EQ(message.substr(0, 15), "3: doc.json:/..");
  EXPECT_NE(message.find("/a: the name 'a' stands here twice"), std::string::npos) << message;
  EXPECT_LE(doc_fault("{\"" + std::string(5000, '~') + "\":[1,null]}").size(), 300u);
}

TEST_F(JsonReader, EmptyListsHaveTheRankThatTheyShow) {
  EXPECT_EQ(doc_fault("{\"query\":[]}"), "3: doc.json:/query: empty list, expected numbers");
  EXPECT_EQ(doc_fault("[]"), "3: doc.json: empty list, expected numbers");
  EXPECT_EQ(open_doc("[[]]")->members()[0].shape, (Shape{1, 0}));
  EXPECT_EQ(open_doc("[[[],[]]]")->members()[0].shape, (Shape{1, 2, 0}));
  EXPECT_EQ(open_doc("[[]]")->read(0, MemoryBudget()).size(), 0);
  EXPECT_EQ(open_doc("{\"tokens\":[]}")->members()[0].kind, MemberKind::strings);
}

TEST_F(JsonReader, NamesThePlaceOfWrongSyntax) {
  EXPECT_EQ(doc_fault(""), "3: doc.json: empty file");
  EXPECT_EQ(doc_fault(" \n "), "3: doc.json:2:2: the file ends here, expected a value");
  EXPECT_EQ(doc_fault("{\"q\":[[1,2],[3,"), "3: doc.json:1:16: the file ends here, expected a value");
  EXPECT_EQ(doc_fault("{\"q\":[[1]]} x"), "3: doc.json:1:13: found 'x', expected the end of the document");
  EXPECT_EQ(doc_fault("{}{}"), "3: doc.json:1:3: found '{', expected the end of the document");
  EXPECT_EQ(doc_fault("1 2"), "3: doc.json:1:3: found '2', expected the end of the document");
  using namespace std::string_view_literals;
  EXPECT_EQ(doc_fault("[[1]]\0 x"sv), "3: doc.json:1:6: found '\\x00', expected the end of the document");
  EXPECT_EQ(doc_fault("[[1]]\0"sv), "3: doc.json:1:6: found '\\x00', expected the end of the document");
  EXPECT_EQ(doc_fault(" \xef\xbb\xbf[1]"), "3: doc.json:1:2: found '\\xef', expected a value");
  EXPECT_EQ(doc_fault("\xef\xbb\xbf\xef\xbb\xbf[1]"), "3: doc.json:1:1: found '\\xef', expected a value");
  EXPECT_EQ(doc_fault("[1,\0 2]"sv), "3: doc.json:1:4: found '\\x00', expected a value");
  EXPECT_EQ(doc_fault("{\"q\":[[1,],],}//c"), "3: doc.json:1:10: found ']', expected a value");
  EXPECT_EQ(doc_fault("{\"q\":[1,\n2 3]}"), "3: doc.json:2:3: found '3', expected ',' or ']'");
  EXPECT_EQ(doc_fault("{\"q\" 1}"), "3: doc.json:1:6: found '1', expected ':'");
  EXPECT_EQ(doc_fault("{q:1}"), "3: doc.json:1:2: found 'q', expected a name in quotes or '}'");
  EXPECT_EQ(doc_fault("{\"q\":1,}"), "3: doc.json:1:8: found '}', expected a name in quotes");
  EXPECT_EQ(doc_fault("{\"q\":1]"), "3: doc.json:1:7: found ']', expected ',' or '}'");
  EXPECT_EQ(doc_fault("{1:2}"), "3: doc.json:1:2: found '1', expected a name in quotes or '}'");
  EXPECT_EQ(doc_fault("{\"a\":1}//c"), "3: doc.json:1:8: found '/', expected the end of the document");
  EXPECT_EQ(doc_fault("[True]"), "3: doc.json:1:2: found 'True', expected a value or ']'");
  EXPECT_EQ(doc_fault("{\"\xc3\xa9\":x}"), "3: doc.json:1:6: found 'x', expected a value") << "columns count characters";
}

TEST_F(JsonReader, ReadsNumbersAsStrictlyAsJsonSays) {
  for (const char* text : {"01",  "1.",  ".5",  "+1",  "-",    "1e",   "1.e5",      "0x1",  "1_000", "--1",
                           "-.5", "1e+", "nan", "inf", "-inf", "-NaN", "Infinity1", "1abc", "00",    "-01"})
    EXPECT_NE(doc_fault(std::string("[") + text + "]").find("3: doc.json:1:2: "), std::string::npos) << text;
  EXPECT_EQ(doc_fault("[01]"), "3: doc.json:1:2: '01' is not a number of JSON");
  EXPECT_EQ(numbers_of(*open_doc("[0,-0,10,0.5,1e5,1E-2,-1.25e+2]")), (Numbers{0, -0.0, 10, .5, 1e5, .01, -125}));
}

TEST_F(JsonReader, RefusesDuplicateNamesAtEveryLevel) {
  EXPECT_EQ(doc_fault("{\"q\":[[1]],\"q\":[[2]]}"), "3: doc.json:/q: the name 'q' stands here twice");
  EXPECT_EQ(doc_fault("{\"meta\":{\"a\":[{\"b\":1,\"b\":2}]}}"), "3: doc.json:/meta/a/0/b: the name 'b' stands here twice");
  EXPECT_EQ(doc_fault("{\"embeddings\":{\"cat\":[1],\"cat\":[2]}}"),
            "3: doc.json:/embeddings/cat: the name 'cat' stands here twice");
}

TEST_F(JsonReader, RefusesDeepNesting) {
  const std::string open_lists(64, '[');
  const std::string close_lists(64, ']');
  EXPECT_EQ(doc_fault("{\"meta\":" + open_lists + close_lists + "}"), "3: doc.json:1:72: lists and objects nested over 64 deep");
  EXPECT_EQ(doc_fault("{\"meta\":" + open_lists.substr(1) + close_lists.substr(1) + "}"), "");
  EXPECT_NE(doc_fault("{\"note\":" + std::string(200000, '[') + std::string(200000, ']') + ",\"q\":[[1]]}"), "");
  EXPECT_NE(doc_fault("[[[[[[[[[1]]]]]]]]]").find("expected at most 8"), std::string::npos);
}

TEST_F(JsonReader, TakesTextOnlyAsUtf8) {
  EXPECT_EQ(open_doc("\xef\xbb\xbf{\"q\":[[1]]}")->members()[0].shape, (Shape{1, 1}));
  EXPECT_EQ(doc_fault("\xef\xbb\xbf{\"q\":x"), "3: doc.json:1:6: found 'x', expected a value");
  EXPECT_NE(doc_fault(std::string_view("\xff\xfe{\0", 4)).find("looks like UTF-16"), std::string::npos);
  EXPECT_EQ(doc_fault("{\"labels\":[\"\xff\"]}"), "3: doc.json:1:13: invalid UTF-8");
  EXPECT_EQ(doc_fault("[\"\xc3\xa9\xc3(\"]"), "3: doc.json:1:5: invalid UTF-8");
  EXPECT_NE(doc_fault("[\"\\ud800\"]").find("surrogate"), std::string::npos);
  EXPECT_NE(doc_fault("[\"\\udc00\"]").find("surrogate"), std::string::npos);
  EXPECT_NE(doc_fault("[\"\\q\"]").find("3: doc.json:1:4: unknown escape"), std::string::npos);
  EXPECT_NE(doc_fault("[\"\\u12g4\"]").find("four hexadecimal digits"), std::string::npos);
  EXPECT_NE(doc_fault("[\"a\nb\"]").find("3: doc.json:1:4: a control character"), std::string::npos);
  EXPECT_EQ(doc_fault("[\"abc"), "3: doc.json:1:2: this string has no closing quote");
  EXPECT_EQ(open_doc("[\"a\\u0000b\\ud83d\\ude00\\\"\\\\\"]")->members()[0].strings[0],
            std::string("a\0b\xf0\x9f\x98\x80\"\\", 9));
}

TEST_F(JsonReader, ReadsTokenEmbeddings) {
  const auto list = open_doc(R"([{"token":"The","embedding":[1,2]},{"embedding":[3,4],"token":"cat"}])");
  ASSERT_EQ(list->members().size(), 2u);
  EXPECT_EQ(list->members()[0].name, "tokens");
  EXPECT_EQ(list->members()[0].strings, (Strings{"The", "cat"}));
  EXPECT_EQ(list->members()[1].name, "embeddings");
  EXPECT_EQ(list->members()[1].shape, (Shape{2, 2}));
  EXPECT_EQ(list->members()[1].labels.query_tokens, (Strings{"The", "cat"}));
  EXPECT_EQ(numbers_of(*list, 1), (Numbers{1, 2, 3, 4}));

  const auto named =
      open_doc(R"({"embeddings":[{"token":"a","embedding":[1]},{"token":"a","embedding":[2]}],"context":{"x":[5,6],"b":[7,8]}})");
  ASSERT_EQ(named->members().size(), 2u);
  EXPECT_EQ(named->members()[0].labels.query_tokens, (Strings{"a", "a"}));
  EXPECT_EQ(named->members()[1].labels.query_tokens, (Strings{"x", "b"})) << "in file order";
  EXPECT_EQ(numbers_of(*named, 1), (Numbers{5, 6, 7, 8}));
}

TEST_F(JsonReader, RefusesBrokenTokenEmbeddings) {
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":[1]},{"token":"b"}])"), "3: doc.json:/1: this object has no 'embedding'");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":[1]},{"embedding":[2]}])"), "3: doc.json:/1: this object has no 'token'");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":[1]},{"token":"b","embedding":[1,2]}])"),
            "3: doc.json:/1/embedding: row has 2 values, row 0 has 1");
  EXPECT_EQ(doc_fault(R"([{"token":1,"embedding":[1]}])"), "3: doc.json:/0/token: expected a string, found a number");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":3}])"),
            "3: doc.json:/0/embedding: expected a list of numbers, found a number");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":[[3]]}])"), "3: doc.json:/0/embedding/0: expected a number, found a list");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embeding":[3]}])"),
            "3: doc.json:/0/embeding: unknown name, expected 'token' and 'embedding'");
  EXPECT_EQ(doc_fault(R"([{"token":"a","embedding":[3]},4])"),
            "3: doc.json:/1: expected an object with 'token' and 'embedding', found a number");
  EXPECT_EQ(doc_fault(R"({"e":{"The":[1,2],"cat":[1]}})"), "3: doc.json:/e/cat: row has 1 value, row 0 has 2");
  EXPECT_EQ(doc_fault(R"({"e":{"The":[1,2],"cat":3}})"), "3: doc.json:/e/cat: expected a list of numbers, found a number");
  EXPECT_EQ(doc_fault(R"({"e":{"The":[1,[2]]}})"), "3: doc.json:/e/The/1: expected a number, found a list");
  EXPECT_EQ(open_doc(R"({"x":[{"id":1},{"id":2}]})")->members()[0].found, "a list of objects");
}

TEST_F(JsonReader, ATopLevelObjectOfVectorsStaysPlain) {
  const auto file = open_doc(R"({"The":[1,2],"cat":[3,4]})");
  ASSERT_EQ(file->members().size(), 2u);
  EXPECT_EQ(file->members()[1].name, "cat");
  EXPECT_EQ(file->members()[1].shape, (Shape{2}));
}

TEST_F(JsonReader, ReadsObjectsOfSettings) {
  const auto file = open_doc(
      R"({"options":{"heads":2,"causal":true,"window":[-1,0],"align":"top-left"},"meta":{"any":[1,null,{"x":[[]]}]},"deep":{"a":{"b":1}}})");
  using Fields = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(file->members()[0].kind, MemberKind::object);
  EXPECT_EQ(file->members()[0].fields, (Fields{{"heads", "2"}, {"causal", "true"}, {"window", "-1,0"}, {"align", "top-left"}}));
  EXPECT_EQ(file->members()[1].kind, MemberKind::other);
  EXPECT_EQ(file->members()[2].kind, MemberKind::other);
  EXPECT_EQ(file->members()[2].found, "an object that holds objects");
}

TEST_F(JsonReader, LongNumbersTakeLinearTimeAndHugeOnesAreRefused) {
  EXPECT_NE(doc_fault("{\"q\":[[" + std::string(1000000, '1') + "]]}").find("3: doc.json:/q/0/0: the number 1111"),
            std::string::npos);
  EXPECT_EQ(numbers_of(*open_doc("[0." + std::string(900000, '0') + "1]")), (Numbers{0}));
  EXPECT_EQ(numbers_of(*open_doc("[1." + std::string(900000, '0') + "]")), (Numbers{1}));
  EXPECT_EQ(doc_fault("[" + std::string(3000000, '1') + "]"), "6: doc.json:1:2: a number of over 1 MiB");
  EXPECT_EQ(doc_fault("[" + std::string(3000000, 'x') + "]"), "6: doc.json:1:2: a word of over 1 MiB");
  EXPECT_EQ(doc_fault("[\"" + std::string(20000000, 'x') + "\"]"), "6: doc.json:1:2: a string of over 16 MiB");
}

TEST_F(JsonReader, ObeysTheMemoryBudget) {
  std::string text = "[0";
  for (int i = 0; i < 200000; ++i) text += ",1";
  run.budget = MemoryBudget(1 << 20);
  EXPECT_EQ(doc_fault(text + "]").substr(0, 3), "6: ");
  run.budget = MemoryBudget(4 << 20);
  EXPECT_EQ(doc_fault(text + "]"), "");
  std::string tokens = "[\"a\"";
  for (int i = 0; i < 100000; ++i) tokens += ",\"b\"";
  EXPECT_EQ(doc_fault(tokens + "]").substr(0, 3), "6: ") << "strings count too";
}

TEST_F(JsonReader, ReadsLargeArraysAgainAndByRows) {
  std::string text = "{\"a\":[[0,1]";
  for (int i = 1; i < 200000; ++i) text += ",[" + std::to_string(2 * i) + "," + std::to_string(2 * i + 1) + "]";
  const auto file = open_doc(text + "]}");
  ASSERT_EQ(file->members()[0].shape, (Shape{200000, 2}));
  double rows[4];
  file->read_rows(0, 150000, 2, rows);
  EXPECT_EQ(rows[0], 300000);
  EXPECT_EQ(rows[3], 300003);
  for (int time = 0; time < 2; ++time) {
    const Numbers values = numbers_of(*file);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
  }
}

TEST_F(JsonReader, ReadsDocumentsOfThisTool) {
  const auto file = open_doc(
      R"({"schema":"attn-cli/1","shape":[2,3],"query_tokens":["a","b"],"key_tokens":["x","y","z"],"scale":0.5,"mask_text":"causal","allowed":[[[0,1]],[[0,1],[2,3]]],"weights":[[1,0,0],[0.5,0,0.5]]})");
  const Member& weights = *file->find("weights");
  EXPECT_EQ(weights.labels.query_tokens, (Strings{"a", "b"}));
  EXPECT_EQ(weights.labels.key_tokens, (Strings{"x", "y", "z"}));
  ASSERT_NE(weights.allowed, nullptr);
  EXPECT_EQ(weights.allowed->rows(), 2);
  std::vector<Range> ranges;
  weights.allowed->allowed_keys(1, ranges);
  EXPECT_EQ(ranges, (std::vector<Range>{{0, 1}, {2, 3}}));
  EXPECT_EQ(file->find("shape")->kind, MemberKind::text);
  EXPECT_EQ(file->find("shape")->text, "[2,3]");
  EXPECT_EQ(file->find("scale")->kind, MemberKind::scalar);
  EXPECT_EQ(file->find("mask_text")->text, "causal");
  EXPECT_EQ(file->find("allowed"), nullptr);
}

TEST_F(JsonReader, ChecksDocumentsOfThisTool) {
  const auto with = [](std::string_view rest) { return std::string(R"({"schema":"attn-cli/1",)") + std::string(rest) + "}"; };
  EXPECT_EQ(doc_fault(with(R"("shape":[2,2],"weights":[[1,0,0]])")), "3: doc.json:/shape: [2,2], but 'weights' is [1,3]");
  EXPECT_EQ(open_doc(with(R"("shape":[0,3],"weights":[])"))->find("weights")->shape, (Shape{0, 3}));
  EXPECT_EQ(open_doc(with(R"("shape":[2,0,3],"weights":[[],[]])"))->find("weights")->shape, (Shape{2, 0, 3}));
  EXPECT_EQ(open_doc(with(R"("shape":[0],"lse":[])"))->find("lse")->shape, (Shape{0}));
  EXPECT_NE(doc_fault(with(R"("shape":[1,3],"weights":[])")), "");
  EXPECT_NE(doc_fault(with(R"("shape":[1.5],"weights":[1])")), "");
  EXPECT_NE(doc_fault(with(R"("shape":[0,4611686018427387904,4],"weights":[])")), "");
  EXPECT_EQ(doc_fault(with(R"("query_tokens":["a"],"weights":[[1,0],[1,0]])")),
            "3: doc.json:/query_tokens: 1 token, but 'weights' has 2");
  EXPECT_EQ(doc_fault(R"({"schema":"attn-cli/2","weights":[[1]]})"),
            "3: doc.json:/schema: found 'attn-cli/2', expected 'attn-cli/1'");
  for (const char* allowed :
       {"[[[0,1]]]", "[[[0,1]],[[1,3]]]", "[[[0,1]],[[1,1]]]", "[[[1,2],[0,1]],[]]", "[[[0]],[]]", "[[[0,1,2]],[]]",
        "[[[0.5,1]],[]]", "[[[-1,1]],[]]", "[[0,1],[]]", "[[[[0,1]]],[]]", "[[],[],[]]", "[0,1]", "[[\"a\"],[]]"})
    EXPECT_EQ(doc_fault(with(std::string("\"allowed\":") + allowed + R"(,"weights":[[1,0],[1,0]])")).substr(0, 20),
              "3: doc.json:/allowed")
        << allowed;
  EXPECT_EQ(doc_fault(with(R"("allowed":[[[0,1],[1,2]],[]],"weights":[[1,0],[1,0]])")), "");
}

}  // namespace
}  // namespace attn::testing
