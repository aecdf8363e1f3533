#include "render/vector_file.hpp"

namespace attn {
inline namespace v1 {

cairo_status_t SurfaceStream::write(void* self, const unsigned char* data, unsigned int count) {
  auto* stream = static_cast<SurfaceStream*>(self);
  if (stream->error_) return CAIRO_STATUS_WRITE_ERROR;
  try {
    stream->bytes_.write(data, count);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {
    stream->error_ = std::current_exception();
    return CAIRO_STATUS_WRITE_ERROR;
  }
}

void SurfaceStream::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

double points_wide(const Layout& layout) { return static_cast<double>(layout.width) / layout.pixels; }
double points_high(const Layout& layout) { return static_cast<double>(layout.height) / layout.pixels; }

void draw_on_surface(const VectorSurface& surface, const Figure& figure, Fonts& fonts) {
  cairo_t* cairo = cairo_create(surface.get());
  cairo_scale(cairo, 1 / figure.layout.pixels, 1 / figure.layout.pixels);
  draw_figure({cairo, nullptr, 0}, figure, fonts);
  cairo_show_page(cairo);
  const cairo_status_t drawn = cairo_status(cairo);
  cairo_destroy(cairo);
  cairo_surface_finish(surface.get());
  const cairo_status_t finished = cairo_surface_status(surface.get());
  for (const cairo_status_t status : {drawn, finished})
    if (status != CAIRO_STATUS_WRITE_ERROR) check_drawn(status);
}

}  // namespace v1
}  // namespace attn
