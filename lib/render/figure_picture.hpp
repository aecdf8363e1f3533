#pragma once

#include <memory>
#include <string>
#include <vector>

#include "render/drawing.hpp"

namespace attn {
inline namespace v1 {

/// Draws a finished figure in one format and writes it.
using SaveFigure = void (*)(const Figure& figure, Fonts& fonts, ByteSink& bytes, const MemoryBudget& budget);
/// Refuses, before any row comes, what could not be saved.
using CheckLayout = void (*)(const Layout& layout, const MemoryBudget& budget);

/// A picture that pools its rows and draws them with cairo: png, svg and pdf differ only in `save`.
class FigurePicture : public Picture {
 public:
  FigurePicture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget, SaveFigure save, CheckLayout check);

  void encode(const RowBlock& rows, std::string& encoded) const override { cells_->encode(rows, encoded); }
  void append(const RowBlock&, std::string_view encoded) override { cells_->append(encoded); }
  void finish() override;
  std::vector<std::string> notes() const override { return notes_; }

 private:
  FigureSpec spec_;
  ByteSink& bytes_;
  MemoryBudget budget_;
  SaveFigure save_;
  std::unique_ptr<Fonts> fonts_;
  Layout plan_;
  std::unique_ptr<PooledCells> cells_;
  std::vector<std::string> notes_;
};

/// Words about a figure for metadata: "0 to 0.62 linear viridis".
std::string scale_text(const ColorRange& range);

}  // namespace v1
}  // namespace attn
