#pragma once

#include <cairo.h>

#include <exception>
#include <memory>
#include <string>

#include "render/drawing.hpp"

namespace attn {
inline namespace v1 {

/// Passes what a cairo surface writes to a byte sink. Cairo is C: an error of the sink waits until cairo has returned.
class SurfaceStream {
 public:
  explicit SurfaceStream(ByteSink& bytes) : bytes_(bytes) {}
  static cairo_status_t write(void* self, const unsigned char* data, unsigned int count);
  void rethrow() const;

 private:
  ByteSink& bytes_;
  std::exception_ptr error_;
};

/// Keeps what is written, to be looked at before it leaves.
class TextSink : public ByteSink {
 public:
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
  std::string text;
};

struct DestroyVectorSurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using VectorSurface = std::unique_ptr<cairo_surface_t, DestroyVectorSurface>;

/// Draws the figure, whose lengths are pixels, on a surface of points, and finishes the surface.
void draw_on_surface(const VectorSurface& surface, const Figure& figure, Fonts& fonts);
/// Sides of a figure in points.
double points_wide(const Layout& layout);
double points_high(const Layout& layout);

}  // namespace v1
}  // namespace attn
