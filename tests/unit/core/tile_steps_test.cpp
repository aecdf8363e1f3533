#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/tile/tile_list.hpp"

// Every step of every instruction set that runs here against plain loops in double, over all widths and odd sizes.
namespace attn::tile {
namespace {

template <typename T>
const TileSteps<T>& steps_of(const TileSet& set) {
  if constexpr (sizeof(T) == 4)
    return set.f32;
  else
    return set.f64;
}

template <typename T>
class TileStep : public testing::Test {
 protected:
  using Numbers = std::vector<T>;
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();
  /// A few units in the last place.
  static constexpr double kUnit = std::numeric_limits<T>::epsilon();

  std::mt19937 engine{7};

  Numbers random(Size count, double spread = 1) {
    std::uniform_real_distribution<double> uniform(-spread, spread);
    Numbers numbers(static_cast<std::size_t>(count));
    for (T& x : numbers) x = static_cast<T>(uniform(engine));
    return numbers;
  }
  static Numbers filled(Size count, T value) { return Numbers(static_cast<std::size_t>(count), value); }

  /// Calls test(steps, lanes) for every set that runs here and every width of a panel.
  template <typename Test>
  void for_panels(const Test& test) {
    for (const TileChoice* choice = tile_choices(); choice->set; ++choice) {
      if (!choice->runs()) continue;
      SCOPED_TRACE(choice->set->name);
      const TileSteps<T>& steps = steps_of<T>(*choice->set);
      for (int vectors = 1; vectors <= kMaxVectors; ++vectors) test(steps, Size{steps.vector_lanes} * vectors);
    }
  }
  template <typename Test>
  void for_sets(const Test& test) {
    for (const TileChoice* choice = tile_choices(); choice->set; ++choice)
      if (choice->runs()) test(steps_of<T>(*choice->set));
  }
  static T& at(Numbers& panel, Size row, Size lane, Size lanes) { return panel[static_cast<std::size_t>(row * lanes + lane)]; }
};

using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(TileStep, Precisions);

TYPED_TEST(TileStep, PackAndUnpackTranspose) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (const Size columns : {1, 2, 3, 4, 7, 8, 9, 16, 17, 33})
      for (Size count = 1; count <= lanes; count += 3) {
        const Size stride = columns + 5;
        auto rows = this->random(count * stride);
        auto panel = this->filled(columns * lanes, T(99)), peak = this->filled(lanes, T(99));
        steps.pack({rows.data(), stride, count, columns, T(0.5), panel.data(), lanes, peak.data()});
        for (Size lane = 0; lane < lanes; ++lane) {
          T most = 0;
          for (Size c = 0; c < columns; ++c) {
            const T x = lane < count ? rows[static_cast<std::size_t>(lane * stride + c)] : T(0);
            ASSERT_EQ(this->at(panel, c, lane, lanes), x / 2);
            most = std::max(most, std::abs(x));
          }
          ASSERT_EQ(peak[static_cast<std::size_t>(lane)], most);
        }
        auto back = this->filled(count * stride, T(77)), check = this->filled(lanes, T(0)), factor = this->filled(lanes, T(2));
        steps.unpack({panel.data(), columns, lanes, factor.data(), back.data(), stride, count, check.data()});
        for (Size row = 0; row < count; ++row)
          for (Size c = 0; c < stride; ++c) {
            const std::size_t i = static_cast<std::size_t>(row * stride + c);
            ASSERT_EQ(back[i], c < columns ? rows[i] : T(77)) << "row " << row << " column " << c;
          }
        for (Size row = 0; row < count; ++row) ASSERT_EQ(check[static_cast<std::size_t>(row)], 0);
        this->at(panel, columns - 1, count - 1, lanes) = std::numeric_limits<T>::infinity();
        steps.unpack({panel.data(), columns, lanes, factor.data(), back.data(), stride, count, check.data()});
        for (Size row = 0; row < count; ++row) ASSERT_EQ(std::isnan(check[static_cast<std::size_t>(row)]), row == count - 1);
      }
  });
}

TYPED_TEST(TileStep, ScoresAreProductsWithBiasAndBlock) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (const Size depth : {1, 2, 3, 5, 8, 33})
      for (Size keys = 1; keys <= 18; ++keys)
        for (const bool biased : {false, true}) {
          const Size stride = depth + 3;
          auto panel = this->random(depth * lanes), key = this->random(keys * stride), bias = this->random(keys * lanes);
          if (biased)
            for (std::size_t i = 0; i < bias.size(); i += 3) bias[i] = -this->kInfinity;
          auto scores = this->filled(keys * lanes + 1, T(55)), highest = this->filled(lanes, T(-2)),
               check = this->filled(lanes, T(0));
          steps.scores({panel.data(), depth, lanes, key.data(), stride, keys, scores.data(), biased ? bias.data() : nullptr,
                        highest.data(), check.data()});
          ASSERT_EQ(scores.back(), T(55));
          for (Size lane = 0; lane < lanes; ++lane) {
            T most = -2;
            for (Size j = 0; j < keys; ++j) {
              double sum = 0;
              for (Size c = 0; c < depth; ++c)
                sum += double(this->at(panel, c, lane, lanes)) * double(key[static_cast<std::size_t>(j * stride + c)]);
              const T added = biased ? this->at(bias, j, lane, lanes) : T(0);
              const T got = this->at(scores, j, lane, lanes);
              if (added == -this->kInfinity)
                ASSERT_EQ(got, added);
              else
                ASSERT_NEAR(got, sum + double(added), 2 * double(depth + 2) * this->kUnit);
              most = std::max(most, got);
            }
            ASSERT_EQ(highest[static_cast<std::size_t>(lane)], most);
            ASSERT_EQ(check[static_cast<std::size_t>(lane)], 0);
          }
        }
  });
}

/// A score that is not finite marks its lane, unless it is blocked.
TYPED_TEST(TileStep, CheckNoticesWhatIsNotFinite) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), this->kInfinity, -this->kInfinity})
      for (const bool blocked : {false, true}) {
        constexpr Size kDepth = 2, kKeys = 5;
        auto panel = this->filled(kDepth * lanes, T(1)), key = this->random(kKeys * kDepth),
             bias = this->filled(kKeys * lanes, T(0));
        key[3 * kDepth] = bad;
        for (Size lane = 1; lane < lanes && blocked; ++lane) this->at(bias, 3, lane, lanes) = -this->kInfinity;
        auto scores = this->filled(kKeys * lanes, T(0)), highest = this->filled(lanes, -this->kInfinity),
             check = this->filled(lanes, T(0));
        steps.scores({panel.data(), kDepth, lanes, key.data(), kDepth, kKeys, scores.data(), blocked ? bias.data() : nullptr,
                      highest.data(), check.data()});
        for (Size lane = 0; lane < lanes; ++lane)
          ASSERT_EQ(std::isnan(check[static_cast<std::size_t>(lane)]), lane == 0 || !blocked) << "lane " << lane;
      }
  });
}

TYPED_TEST(TileStep, SettleCapsAndAdds) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (const double cap : {0.0, 3.0}) {
      constexpr Size kKeys = 7;
      auto scores = this->random(kKeys * lanes, 9), bias = this->random(kKeys * lanes);
      scores[0] = T(1e-5), scores[1] = T(-0.7), scores[2] = T(50);
      bias[3] = -this->kInfinity;
      const auto before = scores;
      auto highest = this->filled(lanes, -this->kInfinity), check = this->filled(lanes, T(0));
      steps.settle(
          {scores.data(), kKeys, lanes, T(cap * 1.5), T(cap > 0 ? 1 / cap : 0), bias.data(), highest.data(), check.data()});
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const double capped = cap > 0 ? cap * 1.5 * std::tanh(double(before[i]) / cap) : double(before[i]);
        if (i == 3)
          ASSERT_EQ(scores[i], -this->kInfinity);
        else
          ASSERT_NEAR(scores[i], capped + double(bias[i]), 8 * this->kUnit * (std::abs(capped) + 1));
      }
      for (Size lane = 0; lane < lanes; ++lane) {
        T most = -this->kInfinity;
        for (Size j = 0; j < kKeys; ++j) most = std::max(most, this->at(scores, j, lane, lanes));
        ASSERT_EQ(highest[static_cast<std::size_t>(lane)], most);
        ASSERT_EQ(check[static_cast<std::size_t>(lane)], 0);
      }
    }
  });
}

/// Near 0 a cap changes nothing: the relative error of tanh stays small, not only the absolute one.
TYPED_TEST(TileStep, CapKeepsTheDigitsOfSmallScores) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (double y = 1e-30; y < 40; y *= 1.3)
      for (const double sign : {1.0, -1.0}) {
        auto scores = this->filled(lanes, static_cast<T>(sign * y)), highest = this->filled(lanes, -this->kInfinity);
        auto check = this->filled(lanes, T(0));
        const double exact = std::tanh(double(scores[0]));
        steps.settle({scores.data(), 1, lanes, T(1), T(1), nullptr, highest.data(), check.data()});
        for (const T got : scores) ASSERT_NEAR(got, exact, 4 * this->kUnit * std::abs(exact)) << y;
      }
  });
}

TYPED_TEST(TileStep, PowersOfDifferences) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (Size keys = 1; keys <= 9; ++keys)
      for (const double unit : {1.0, 1.4426950408889634}) {
        auto scores = this->random(keys * lanes, 60);
        this->at(scores, 0, 0, lanes) = -this->kInfinity;
        const auto before = scores;
        auto highest = this->filled(lanes, -this->kInfinity);
        for (Size lane = 0; lane < lanes; ++lane)
          for (Size j = 0; j < keys; ++j)
            highest[static_cast<std::size_t>(lane)] =
                std::max(highest[static_cast<std::size_t>(lane)], this->at(scores, j, lane, lanes));
        const double shift = std::exp2(double(kPowerShift<T>));
        auto maximum = this->filled(lanes, T(1.5)), total = this->filled(lanes, T(shift * 3)),
             rescale = this->filled(lanes, T(0));
        steps.powers({scores.data(), keys, lanes, highest.data(), maximum.data(), total.data(), rescale.data(), T(unit)});
        for (Size lane = 0; lane < lanes; ++lane) {
          const std::size_t l = static_cast<std::size_t>(lane);
          const T most = std::max(T(1.5), highest[l]);
          ASSERT_EQ(maximum[l], most);
          const double keep = std::exp2((1.5 - double(most)) * double(T(unit)));
          ASSERT_NEAR(rescale[l], keep, 200 * this->kUnit * keep + 1e-38);
          double sum = shift * 3 * keep;
          for (Size j = 0; j < keys; ++j) {
            const double x = (double(before[static_cast<std::size_t>(j * lanes + lane)]) - double(most)) * double(T(unit));
            const double want = std::exp2(x) * shift, got = double(this->at(scores, j, lane, lanes));
            // The argument was rounded to T: its error is what counts.
            if (std::isinf(x))
              ASSERT_EQ(got, 0);
            else
              ASSERT_NEAR(got, want, (std::abs(x) + 4) * this->kUnit * want + (sizeof(T) == 4 ? 1.2e-38 : 0)) << x;
            sum += want;
          }
          ASSERT_NEAR(total[l], sum, 200 * this->kUnit * sum);
        }
      }
  });
}

/// exp2 itself over its whole range: exact at 0, zero far below, never off by more than a unit or so.
TYPED_TEST(TileStep, PowersAreAccurateEverywhere) {
  using T = TypeParam;
  const double floor = (sizeof(T) == 4 ? -126.0 : -1022.0) - kPowerShift<T>;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    const auto power = [&](T x) {
      auto scores = this->filled(lanes, x), highest = this->filled(lanes, T(0)), maximum = this->filled(lanes, T(0));
      auto total = this->filled(lanes, T(0)), rescale = this->filled(lanes, T(0));
      steps.powers({scores.data(), 1, lanes, highest.data(), maximum.data(), total.data(), rescale.data(), T(1)});
      for (const T& got : scores) EXPECT_EQ(got, scores[0]);
      return scores[0];
    };
    ASSERT_EQ(double(power(T(0))), std::exp2(double(kPowerShift<T>)));
    ASSERT_EQ(power(-this->kInfinity), T(0));
    ASSERT_EQ(power(std::numeric_limits<T>::lowest()), T(0));
    ASSERT_EQ(power(static_cast<T>(floor - 1)), T(0));
    for (double x = 0; x > floor; x -= 0.37) {
      const T argument = static_cast<T>(x);
      const double want = double(std::ldexp(std::exp2(static_cast<long double>(argument)), kPowerShift<T>));
      ASSERT_NEAR(power(argument), want, 1.5 * this->kUnit * want) << x;
    }
  });
}

/// A panel that has seen no key yet meets keys that nobody may see: nothing becomes NaN.
TYPED_TEST(TileStep, NothingSeenGivesNothing) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    auto scores = this->filled(3 * lanes, -this->kInfinity), highest = this->filled(lanes, -this->kInfinity);
    auto maximum = this->filled(lanes, -this->kInfinity), total = this->filled(lanes, T(0)), rescale = this->filled(lanes, T(7));
    steps.powers({scores.data(), 3, lanes, highest.data(), maximum.data(), total.data(), rescale.data(), T(1)});
    for (const T& x : scores) ASSERT_EQ(x, 0);
    for (const T& x : total) ASSERT_EQ(x, 0);
    for (const T& x : rescale) ASSERT_FALSE(std::isnan(x));
    for (const T& x : maximum) ASSERT_EQ(x, -this->kInfinity);
  });
}

TYPED_TEST(TileStep, SumsAddToWhatIsThere) {
  using T = TypeParam;
  this->for_panels([&](const TileSteps<T>& steps, Size lanes) {
    for (const Size keys : {1, 2, 3, 8, 31})
      for (Size columns = 1; columns <= 18; ++columns) {
        const Size stride = columns + 2;
        auto weights = this->random(keys * lanes), values = this->random(keys * stride), out = this->random(columns * lanes);
        auto rescale = this->random(lanes);
        const auto before = out;
        out.push_back(T(55));
        steps.sums({weights.data(), keys, lanes, values.data(), stride, columns, out.data(), rescale.data()});
        ASSERT_EQ(out.back(), T(55));
        for (Size c = 0; c < columns; ++c)
          for (Size lane = 0; lane < lanes; ++lane) {
            double sum =
                double(before[static_cast<std::size_t>(c * lanes + lane)]) * double(rescale[static_cast<std::size_t>(lane)]);
            for (Size j = 0; j < keys; ++j)
              sum += double(this->at(weights, j, lane, lanes)) * double(values[static_cast<std::size_t>(j * stride + c)]);
            ASSERT_NEAR(this->at(out, c, lane, lanes), sum, double(keys + 2) * this->kUnit);
          }
      }
  });
}

TYPED_TEST(TileStep, AScoreDoesNotDependOnTheKeysAndRowsBesideIt) {
  using T = TypeParam;
  this->for_sets([&](const TileSteps<T>& steps) {
    constexpr Size kDepth = 44, kKeys = 21;
    auto query = this->random(kMaxRows * kDepth), key = this->random(kKeys * kDepth);
    auto all = this->filled(kMaxRows * kKeys, T(0)), one = this->filled(1, T(0));
    steps.row_scores({query.data(), kDepth, kMaxRows, kDepth, key.data(), kDepth, kKeys, 0, nullptr, 0, 0, all.data(), kKeys});
    for (Size r = 0; r < kMaxRows; ++r)
      for (Size j = 0; j < kKeys; ++j) {
        steps.row_scores({query.data() + r * kDepth, kDepth, 1, kDepth, key.data() + j * kDepth, kDepth, 1, kKeys - 1 - j,
                          nullptr, 0, 0, one.data(), 1});
        ASSERT_EQ(this->at(all, r, j, kKeys), one[0]) << r << ' ' << j;
      }
  });
}

TYPED_TEST(TileStep, RowsOfFewQueries) {
  using T = TypeParam;
  this->for_sets([&](const TileSteps<T>& steps) {
    for (Size rows = 1; rows <= kMaxRows; ++rows)
      for (const Size depth : {1, 3, 8, 17, 40, 72, 131})
        for (const Size keys : {1, 2, 3, 19, 64}) {
          auto query = this->random(rows * depth), key = this->random(keys * (depth + 1)),
               scores = this->filled(rows * (keys + 1), T(55));
          steps.row_scores({query.data(), depth, rows, depth, key.data(), depth + 1, keys, 0, key.data(), depth + 1, depth,
                            scores.data(), keys + 1});
          auto values = key, out = this->random(rows * depth);
          const auto before = out;
          for (Size r = 0; r < rows; ++r) {
            ASSERT_EQ(this->at(scores, r, keys, keys + 1), T(55));
            for (Size j = 0; j < keys; ++j) {
              double sum = 0;
              for (Size c = 0; c < depth; ++c)
                sum += double(this->at(query, r, c, depth)) * double(this->at(key, j, c, depth + 1));
              ASSERT_NEAR(this->at(scores, r, j, keys + 1), sum, double(depth + 2) * this->kUnit);
            }
          }
          steps.row_sums({scores.data(), keys + 1, rows, keys, values.data(), depth + 1, depth, out.data(), depth});
          for (Size r = 0; r < rows; ++r)
            for (Size c = 0; c < depth; ++c) {
              double sum = double(before[static_cast<std::size_t>(r * depth + c)]), size = 1;
              for (Size j = 0; j < keys; ++j) {
                const double part = double(this->at(scores, r, j, keys + 1)) * double(this->at(values, j, c, depth + 1));
                sum += part, size += std::abs(part);
              }
              ASSERT_NEAR(this->at(out, r, c, depth), sum, double(keys + 2) * this->kUnit * size);
            }
        }
  });
}

TYPED_TEST(TileStep, RowSettleAndPowers) {
  using T = TypeParam;
  this->for_sets([&](const TileSteps<T>& steps) {
    for (Size count = 1; count <= 70; ++count)
      for (const bool biased : {false, true}) {
        auto scores = this->random(count, 5), bias = this->random(count);
        if (biased && count > 2) bias[2] = -this->kInfinity;
        const auto before = scores;
        RowSettleStep<T> settle{scores.data(), count, T(0), T(0), biased ? bias.data() : nullptr, T(0), T(1)};
        steps.row_settle(settle);
        T most = -this->kInfinity;
        for (Size j = 0; j < count; ++j) {
          const std::size_t i = static_cast<std::size_t>(j);
          ASSERT_EQ(scores[i], biased ? before[i] + bias[i] : before[i]);
          most = std::max(most, scores[i]);
        }
        ASSERT_EQ(settle.highest, most);
        ASSERT_EQ(settle.check, 0);

        scores.resize(static_cast<std::size_t>((count + kRowStep - 1) / kRowStep * kRowStep), -this->kInfinity);
        const auto settled = scores;
        RowPowerStep<T> power{scores.data(), static_cast<Size>(scores.size()), most, T(0)};
        steps.row_powers(power);
        double sum = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
          const double x = double(settled[i]) - double(most), want = std::ldexp(std::exp2(x), kPowerShift<T>);
          if (std::isinf(x))
            ASSERT_EQ(scores[i], 0);
          else
            ASSERT_NEAR(scores[i], want, (std::abs(x) + 2) * this->kUnit * want);
          sum += double(scores[i]);
        }
        ASSERT_NEAR(power.total, sum, 70 * this->kUnit * sum);
      }
  });
}

TEST(TileList, NamesAndChoice) {
  EXPECT_STREQ(find_tile_set("sse2", 4)->name, "sse2");
  EXPECT_EQ(find_tile_set("sse3", 4), nullptr);
  EXPECT_EQ(find_tile_set("sse", 3), nullptr);
  ASSERT_NE(find_tile_set("", 0), nullptr);
  for (const TileChoice* choice = tile_choices(); choice->set; ++choice)
    EXPECT_FALSE(choice->only_forced && find_tile_set("", 0) == choice->set) << choice->set->name;
}

}  // namespace
}  // namespace attn::tile
